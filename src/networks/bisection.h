// Two halves of a community that have many links within and few between.
#pragma once
#include <vector>

#include "foundation/random.h"
#include "networks/links.h"

namespace bnpvi::networks {

/// Divides `nodes` in two so that the links among them that stay within a half exceed, as far as a local
/// search finds, what their degrees among themselves would give at random (modularity [Newman 2006]): from
/// two random seeds, between which breadth-first search shares the nodes out, nodes change sides as long as
/// that gains. The best of `tries`. Returns the nodes of one half; none when no division has two halves.
/// Nodes without links among the others are never of it. `nodes` are in ascending order, and so is what is
/// returned; costs what their links do.
std::vector<int> bisected(const Links& links, const std::vector<int>& nodes, int tries, Stream& stream);

/// All nodes divided into k groups: the one with most link ends in two, again and again; where none has two
/// halves, in two of equal size. Labels from 0; k must be at most the number of nodes.
std::vector<int> divided(const Links& links, Index k, int tries, Stream& stream);

}  // namespace bnpvi::networks
