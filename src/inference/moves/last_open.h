// Finds the last cluster without a class of labels, which is kept if units with labels may belong to it.
#pragma once
#include "inference/data/summary.h"
#include "inference/learn/state.h"

namespace bnpvi {

/// Whether cluster j is the only cluster without a class (owner 0) while other clusters have classes. If it
/// were removed, hardly any other would arise: when a cluster with a class is divided, its parts keep the
/// class.
bool is_last_open(const Summary& s, Index j);

/// Whether some units with labels may belong to clusters without a class.
bool labels_are_open(const Problem& problem);

}  // namespace bnpvi
