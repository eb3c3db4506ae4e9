// Messages over some consecutive rows of a sequence, given the states of the rows around them.
#pragma once
#include "chains/messages/messages.h"

namespace bnpvi::chains {

/// A window is a range of consecutive rows of a sequence. These are the states of the row just before it and
/// of the row just after it; −1: the sequence begins or ends with the window.
struct Ends {
  Index before = -1, after = -1;
};

/// Results of forward–backward over a window (some consecutive rows of a sequence). The state probabilities
/// of its rows are stored elsewhere (messages_between()).
struct WindowMessages {
  // false: the messages may depend on the floor to which small potentials are raised, and the other results
  // are of no use
  bool sure = false;
  // log of the sum over all paths between the ends; each path contributes the product of its potentials and
  // transitions
  double log_sum = 0;
  // entropy of q(z) without the part of the transitions into rows of the window, −Σ M log P
  // (add_transitions())
  double entropy = 0;
};

/// Computes forward and backward messages over the n rows of a window, given the states of the rows just
/// before and after it. Messages are those of forward() and backward() in messages.h. log_e and e (n × K): on
/// entry log potentials and potentials, on return the responsibilities (state probabilities) and the messages
/// ν. alpha ((n + 1) × K): row 0 is 1 for the state ends.before and 0 for all others, so the products αν
/// include the transition into the first row. The expected number of transitions from state j into ends.after
/// is the responsibility of j in the last row. Scratch: scale (n), beta (K), first (n).
WindowMessages messages_between(const Chain& chain, Index n, const Ends& ends, double* log_e, double* e,
                                double* alpha, double* scale, double* beta, std::uint8_t* first,
                                double* start_count);

/// Messages of one row and one of its states, from a pass over the whole sequence. They are used for a window
/// (range of rows) that ends beside this row, when the row is assumed to be in this state.
struct EndMessages {
  double r = 0;      // posterior probability of the state in this row
  double alpha = 1;  // probability of the state given the rows up to this one
  double nu = 1;     // backward message ν of the state (messages.h)
};

/// The joint probability, given all rows, of the states `ends` of the two rows just outside a window (a range
/// of rows). before, after: messages of these two rows, from a pass over the whole sequence. log_scale: sum
/// of the log scales of that pass over the rows of the window. log_sum: WindowMessages::log_sum of the window
/// under the same chain and potentials. If the window begins or ends with the sequence, the result is the
/// probability of the one state outside.
double probability_of_ends(const Ends& ends, const EndMessages& before, const EndMessages& after,
                           double log_scale, double log_sum);

}  // namespace bnpvi::chains
