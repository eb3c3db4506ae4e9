// Known communities of some nodes, as classes to which communities belong.
#pragma once
#include <algorithm>
#include <vector>

#include "foundation/types.h"

namespace bnpvi::networks {

/// The class that owns each community (class_sets.h); 0: an open community, which no class owns. A node with
/// a label is only in communities of its classes, unless its label allows open ones; a node without a label
/// may be in any (Links::allows()). If no node has a label, all communities are open. When a community is
/// divided, a part without any node with a label becomes open.
using Owners = std::vector<int>;

/// True when two communities with owners a and b may be joined: they are not of different classes. The joined
/// community belongs to the class of either, owner_of_both().
inline bool can_join(int a, int b) { return a == b || a == 0 || b == 0; }
inline int owner_of_both(int a, int b) { return std::max(a, b); }

/// True when community k may be removed: it is open, or its class owns another community, too.
inline bool can_go(const Owners& owner, Index k) {
  return owner[k] == 0 || std::count(owner.begin(), owner.end(), owner[k]) > 1;
}

/// Hard labels of nodes, 0 .. K − 1, and the classes that own the K communities.
struct OwnedLabels {
  std::vector<int> label;
  Owners owner;
};

/// Proportions of nodes in K communities, n × K, row-major, ≥ 0, and the classes that own the communities.
struct Shares {
  Index k;
  Vec weight;
  Owners owner;
};

}  // namespace bnpvi::networks
