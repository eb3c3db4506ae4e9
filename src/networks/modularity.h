// Groups of nodes with many links within; the links determine the number of groups.
#pragma once
#include <vector>

#include "foundation/random.h"
#include "networks/links.h"

namespace bnpvi::networks {

/// Labels (from 0) of groups of high modularity [Newman 2006], whose links within exceed what degrees would
/// give at random, by the local search of Blondel and others (2008): nodes move, in random order, to the
/// neighbouring group that gains most, until none gains; then groups are treated as nodes, and so on.
/// Directions of links are ignored. All nodes without links form one group.
std::vector<int> modularity_groups(const Links& links, Stream& stream);

}  // namespace bnpvi::networks
