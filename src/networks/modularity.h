// Groups of nodes with many links within them; their number follows from the links.
#pragma once
#include <vector>

#include "foundation/random.h"
#include "networks/links.h"

namespace bnpvi::networks {

/// Finds groups of nodes with high modularity [Newman 2006]: within groups there are more links than the
/// degrees of the nodes would give at random. Returns the labels of the nodes, from 0. The search is that of
/// Blondel and others (2008). Nodes, in random order, move to the neighbouring group that gains most, until
/// no move gains. Then groups take the place of nodes, and so on. Directions of links are ignored. All nodes
/// without links form one group.
std::vector<int> modularity_groups(const Links& links, Stream& stream);

}  // namespace bnpvi::networks
