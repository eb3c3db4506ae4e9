// The last cluster of no class, which stays where units with labels may use it.
#pragma once
#include "inference/data/summary.h"
#include "inference/learn/state.h"

namespace bnpvi {

/// Whether cluster j is the only one of no class (owner 0) among clusters that have classes. If it were
/// removed, hardly any such cluster would arise again: if a cluster is divided, its parts have its class.
bool is_last_open(const Summary& s, Index j);

/// Whether some units with labels may belong to clusters of no class.
bool labels_are_open(const Problem& problem);

}  // namespace bnpvi
