// Groups of nodes that have many links within, as many as the links say.
#pragma once
#include <vector>

#include "foundation/random.h"
#include "networks/links.h"

namespace bnpvi::networks {

/// Labels (from 0) of groups whose links within exceed, as far as a local search finds, what degrees would
/// give at random (modularity [Newman 2006], by the method of Blondel and others 2008): nodes move to the
/// group of neighbours that gains most, in random order, until none gains; then groups are nodes, and so on.
/// Directions of links are left out. Nodes without links are one group.
std::vector<int> modularity_groups(const Links& links, Stream& stream);

}  // namespace bnpvi::networks
