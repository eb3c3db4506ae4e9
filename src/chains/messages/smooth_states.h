// State probabilities of rows given all rows, where some states may be much less probable than others.
#pragma once
#include "chains/trees/tree_messages.h"

namespace bnpvi::chains {

/// The probabilities P(z_t | all rows, z_t < known), n × known, of the first `known` states of each row,
/// given log potentials log_e (n × K).
/// They are accurate even if the other states have all the probability up to rounding. Messages are the
/// scaled ones of TreeMessages, whose floor of transitions (Chain::lowest) is far below any posterior mean;
/// each message keeps its logarithm until the states of a row are normalised.
Vec smoothed_states(const Chain& chain, const TreeRows& rows, Vec log_e, Index known);

}  // namespace bnpvi::chains
