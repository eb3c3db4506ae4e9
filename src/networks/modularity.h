// Groups of nodes with many links within them; their number follows from the links.
#pragma once
#include <vector>

#include "foundation/random.h"
#include "networks/links.h"

namespace bnpvi::networks {

/// Labels (from 0) of groups of high modularity [Newman 2006]: there are more links within groups than the
/// nodes' degrees would give at random. Local search of Blondel and others (2008): nodes move, in random
/// order, to the neighbouring group that gains most, until none gains; then groups are treated as nodes, and
/// so on. Directions of links are ignored. All nodes without links form one group.
std::vector<int> modularity_groups(const Links& links, Stream& stream);

}  // namespace bnpvi::networks
