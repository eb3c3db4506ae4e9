// States of rows given all rows, where some states may be much less probable than others.
#pragma once
#include "chains/trees/tree_messages.h"

namespace bnpvi::chains {

/// For log potentials log_e (n × K): P(z_t | all rows, z_t < known), n × known, also where the other states
/// have all the probability that a double can tell. Messages are those of TreeMessages in their scaled
/// version, whose floor of transitions (Chain::lowest) is far below any posterior mean; here the logarithm of
/// each is kept until a row's states are normalised.
Vec smoothed_states(const Chain& chain, const TreeRows& rows, Vec log_e, Index known);

}  // namespace bnpvi::chains
