// Messages over some consecutive rows of a sequence, given the states of the rows around them.
#pragma once
#include "chains/messages/messages.h"

namespace bnpvi::chains {

/// The states of the rows just before and just after a window (some consecutive rows); −1: the sequence
/// begins or ends there.
struct Ends {
  Index before = -1, after = -1;
};

/// Results of forward–backward over a window (some consecutive rows of a sequence), except the
/// responsibilities.
struct WindowMessages {
  // false: the messages may depend on a floor of potentials, so that the other results are of no use
  bool sure = false;
  double log_sum = 0;  // log of the sum, over all paths between the ends, of potentials times transitions
  // entropy of q(z) without the part −Σ M log P of the transitions into rows of the window (add_transitions)
  double entropy = 0;
};

/// Computes forward and backward messages (as forward() and backward() in messages.h do) over n rows, given
/// the states of the rows just before and after them. log_e and e: the same potentials as logarithms and
/// exponentials; on return the responsibilities and the messages ν. alpha ((n + 1) × K): row 0 is the
/// indicator of ends.before, so that the products αν include the transition into the first row. The expected
/// number of transitions from state j into ends.after is the last row's responsibility of j. Scratch: scale
/// (n), beta (K), first (n).
WindowMessages messages_between(const Chain& chain, Index n, const Ends& ends, double* log_e, double* e,
                                double* alpha, double* scale, double* beta, std::uint8_t* first,
                                double* start_count);

/// Messages that a pass over a whole sequence computed for one row and one of its states. They are used for a
/// window (range of rows) that ends beside this row and is conditioned on this state.
struct EndMessages {
  double r = 0;      // posterior probability of the state in this row
  double alpha = 1;  // probability of the state given this row and those before
  double nu = 1;     // backward message ν of the state (messages.h)
};

/// The joint probability of the states in `ends`, those of the rows just outside a window (a range of rows).
/// before, after: messages of these two rows, from a pass over the whole sequence. log_scale: sum of the log
/// scales of that pass over the rows of the window. log_sum: WindowMessages::log_sum of the window under the
/// same chain and potentials. Where the window begins or ends with the sequence, only the state on the other
/// side has a probability.
double probability_of_ends(const Ends& ends, const EndMessages& before, const EndMessages& after,
                           double log_scale, double log_sum);

}  // namespace bnpvi::chains
