// Classes that own communities, for networks in which the communities of some nodes are known.
#pragma once
#include <algorithm>
#include <vector>

#include "foundation/types.h"

namespace bnpvi::networks {

/// The class that owns each community (class_sets.h). 0 marks an open community, which no class owns. A node
/// with a label is only in communities of its classes, and in open ones if its label allows that. A node
/// without a label may be anywhere (Links::allows()). If no node has a label, all communities are open. If a
/// community is divided and one part has no node with a label, this part becomes open.
using Owners = std::vector<int>;

/// True when two communities with owners a and b may be joined: their owners do not differ, or one of them is
/// open. The joined community has the owner owner_of_both().
inline bool can_join(int a, int b) { return a == b || a == 0 || b == 0; }
inline int owner_of_both(int a, int b) { return std::max(a, b); }

/// True when community k may be removed: it is open, or its class owns another community.
inline bool can_go(const Owners& owner, Index k) {
  return owner[k] == 0 || std::count(owner.begin(), owner.end(), owner[k]) > 1;
}

/// Hard labels of nodes, 0 .. K − 1, and the classes that own the K communities.
struct OwnedLabels {
  std::vector<int> label;
  Owners owner;
};

/// Proportions of nodes in K communities (n × K, row-major, ≥ 0), and the classes that own the communities.
struct Shares {
  Index k;
  Vec weight;
  Owners owner;
};

}  // namespace bnpvi::networks
