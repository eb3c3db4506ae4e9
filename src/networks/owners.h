// Known communities of some nodes: classes that own communities.
#pragma once
#include <algorithm>
#include <vector>

#include "foundation/types.h"

namespace bnpvi::networks {

/// The class (class_sets.h) that owns each community; 0: an open community, which no class owns. A node with
/// a label is only in communities of its classes, unless its label allows open ones; a node without a label
/// may be in any (Links::allows()). If no node has a label, all communities are open. When a community is
/// divided, a part without any node with a label becomes open.
using Owners = std::vector<int>;

/// Communities of different classes are never joined. If one of two joined communities has a class, so has
/// the result.
inline bool can_join(int a, int b) { return a == b || a == 0 || b == 0; }
inline int owner_of_both(int a, int b) { return std::max(a, b); }

/// False for the last community of a class, which must not be removed.
inline bool can_go(const Owners& owner, Index k) {
  return owner[k] == 0 || std::count(owner.begin(), owner.end(), owner[k]) > 1;
}

/// Hard labels of nodes, 0 .. K − 1, and the K owners.
struct OwnedLabels {
  std::vector<int> label;
  Owners owner;
};

/// Proportions of nodes in K communities, n × K, row-major, ≥ 0.
struct Shares {
  Index k;
  Vec weight;
  Owners owner;
};

}  // namespace bnpvi::networks
