// State probabilities of rows given all rows, where some states may be much less probable than others.
#pragma once
#include "chains/trees/tree_messages.h"

namespace bnpvi::chains {

/// The probabilities P(z_t | all rows, z_t < known) of the first `known` states in each row, n × known. log_e
/// (n × K): log potentials. They are accurate even if, up to rounding, the other states have all the
/// probability. Messages are scaled as in TreeMessages. They raise small transition probabilities to a floor
/// (Chain::lowest), which is far below any posterior mean. Each message is stored as logarithms until the
/// states of a row are normalised.
Vec smoothed_states(const Chain& chain, const TreeRows& rows, Vec log_e, Index known);

}  // namespace bnpvi::chains
