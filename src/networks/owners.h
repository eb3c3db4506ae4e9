// Known communities of some nodes: the classes that own communities.
#pragma once
#include <algorithm>
#include <vector>

#include "foundation/types.h"

namespace bnpvi::networks {

/// The class (class_sets.h) that owns each community, or 0 for an open one, which no class owns. A node with
/// a label is in communities of its classes alone, a node without in any (Links::allows()). Where no node
/// has a label all communities are open, and parts of a divided community that no node with a label is in
/// are.
using Owners = std::vector<int>;

/// Those of two classes are never joined. A class takes over what joins one of its communities.
inline bool can_join(int a, int b) { return a == b || a == 0 || b == 0; }
inline int owner_of_both(int a, int b) { return std::max(a, b); }

/// The last community of a class stays.
inline bool can_go(const Owners& owner, Index k) {
  return owner[k] == 0 || std::count(owner.begin(), owner.end(), owner[k]) > 1;
}

/// Hard labels of nodes, 0 .. K − 1, and the K owners.
struct OwnedLabels {
  std::vector<int> label;
  Owners owner;
};

/// Shares of nodes in K communities, n × K, row-major, ≥ 0.
struct Shares {
  Index k;
  Vec weight;
  Owners owner;
};

}  // namespace bnpvi::networks
