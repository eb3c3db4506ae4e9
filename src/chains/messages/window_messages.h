// Messages over some consecutive rows of a sequence, given the states of the rows around them.
#pragma once
#include "chains/messages/messages.h"

namespace bnpvi::chains {

/// States of the row just before and of the row just after some rows; −1: the sequence begins or ends there.
struct Ends {
  Index before = -1, after = -1;
};

/// What forward–backward over a window finds beside its responsibilities.
struct WindowMessages {
  bool sure = false;   // false: the messages may depend on a floor, and nothing else is of use
  double log_sum = 0;  // log Σ over the paths between the ends of all potentials and transitions
  double entropy = 0;  // lacks −Σ M log P of transitions from a row of the window, or from the row before it,
                       // to a row of the window (add_transitions)
};

/// forward() and backward() over n rows given their ends, with the same potentials in log_e and e, which then
/// hold the responsibilities and the messages ν. alpha ((n + 1) × K): row 0 is the indicator of ends.before,
/// so that αν counts the transition into the first row too. The transition into ends.after is as frequent as
/// the responsibilities of the last row say. Scratch: scale (n), beta (K), first (n).
WindowMessages messages_between(const Chain& chain, Index n, const Ends& ends, double* log_e, double* e,
                                double* alpha, double* scale, double* beta, std::uint8_t* first,
                                double* start_count);

/// What a pass over a sequence says of one row and one of its states, by which windows can end there.
struct EndMessages {
  double r = 0;      // its probability
  double alpha = 1;  // given this row and those before
  double nu = 1;     // ν of messages.h
};

/// P(states at the ends of a window), when a pass over its sequence found these messages of the rows at its
/// ends and log scales that add up to log_scale over the window, and the window has this log_sum under the
/// chain and the potentials of that pass. Where the sequence begins or ends with the window there is nothing
/// to say of that end.
double probability_of_ends(const Ends& ends, const EndMessages& before, const EndMessages& after,
                           double log_scale, double log_sum);

}  // namespace bnpvi::chains
