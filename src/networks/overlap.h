// Base class of models of overlapping communities.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "foundation/archive.h"
#include "hdp/sticks.h"
#include "networks/bisection.h"
#include "networks/link_model.h"
#include "networks/links.h"
#include "networks/network_fit.h"
#include "networks/owners.h"

namespace bnpvi::networks {

/// The expected number of link ends of one node in community k. An end of a link counts for k if the node
/// acts there as a member of k.
struct Ends {
  Index k;
  double value;
};

/// Local changes of communities: they visit only the nodes of the communities concerned, and the links of
/// these nodes. The rest of q stays fixed, so the gain found is a lower bound of the possible gain. Each
/// function keeps the change and returns its gain if the whole bound rises by more than `least`. Otherwise it
/// restores the state and returns 0. When a community is removed, the last one gets its number.
class LocalMoves {
 public:
  virtual ~LocalMoves() = default;
  virtual double split_here(const Division& division, double share, double least) = 0;
  virtual double merge_here(Index a, Index b, double least) = 0;
  /// Divides the members of communities a and b anew between the two. Nodes in `leaves` get the fraction
  /// `share` of their part in b and the rest in a; other nodes the other way round.
  virtual double divide_here(Index a, Index b, const std::vector<int>& leaves, double share,
                             double least) = 0;
  virtual double drop_here(Index k, double least) = 0;
};

/// A state that can take steps of stochastic learning, each from a sample of nodes.
class NodeSteps {
 public:
  /// Makes one step of stochastic learning. The natural gradient of the bound with respect to q(φ) is a sum
  /// over pairs of nodes minus the present parameters of q(φ). That sum is estimated from the pairs of
  /// `nodes`. Each pair counts half at each of its two nodes, and the sum is scaled by n over the number of
  /// `nodes`. The estimate is unbiased over all sets of so many nodes. q(φ) moves by `rate` towards it. Then
  /// these nodes are visited, and the sticks are updated from exact sums over all nodes. The bound is exact
  /// again after a lap().
  virtual void step(const std::vector<int>& nodes, double rate) = 0;
  /// Called when steps have visited all nodes once (a lap).
  virtual void end_steps() = 0;

 protected:
  ~NodeSteps() = default;
};

/// Optional abilities of a state of overlapping communities. A pointer is null if the state lacks the
/// ability.
struct OverlapCapabilities {
  NodeSteps* steps = nullptr;
  LocalMoves* local = nullptr;  // changes that are judged by the nodes concerned, without a lap
};

/// A state of variational inference with K overlapping communities. Every node has some part in each
/// community where its label allows it to be (owners.h). lap() improves the state; split(), merge(), drop()
/// and permute() change it. States are compared by the whole bound.
class Overlap : public StoredState {
 public:
  virtual std::unique_ptr<Overlap> copy() const = 0;
  /// Makes a state of the same model and network that starts from other proportions of nodes in communities.
  virtual std::unique_ptr<Overlap> anew(const Shares& start) const = 0;

  Index k() const { return k_; }
  const Owners& owner() const { return owner_; }
  bool allows(Index i, Index k) const { return links_->allows(i, owner_[k]); }
  const Links& links() const { return *links_; }
  const HdpSticks& sticks() const { return sticks_; }
  /// The expected number of link ends of node i in each community (Ends). Only numbers above 0, by ascending
  /// k.
  virtual std::vector<Ends> ends(Index i) const = 0;
  /// The community with most expected link ends of node i. For a node without links, the first one where it
  /// may be.
  Index main_community(Index i) const;
  /// The model of blocks, if every pair of communities has a block; otherwise null. With such blocks the
  /// halves of a community need not have many links within.
  const LinkModel* blocks() const { return pair_blocks_; }
  virtual OverlapCapabilities capabilities() = 0;

  /// Updates q of all links, q of all nodes, and the global parameters, once each; the bound never falls.
  virtual void lap() = 0;
  /// The named terms of the bound. They are exact for the present q: all pairs of nodes are included.
  virtual std::vector<std::pair<std::string, double>> terms() const = 0;
  double bound() const {
    double sum = 0;
    for (const auto& term : terms()) sum += term.second;
    return sum;
  }
  /// Expected proportions of node i in the K communities. They sum to 1.
  virtual Vec proportions(Index i) const = 0;
  /// The posterior means E φ_k of the rates of the K communities and, last, that of the background.
  virtual Vec rates() const = 0;
  /// The parameters of q as named arrays, with their numbers of columns (row-major).
  struct Array {
    std::string name;
    Index columns;
    Vec value;
  };
  virtual std::vector<Array> arrays() const = 0;

  // Changes of the communities. A following lap() makes q consistent again. A community keeps its number
  // unless stated otherwise.

  /// Divides communities, each at most once. The new communities come last. Nodes that leave have the
  /// fraction `share` of their membership in the new community and the rest in the old one. The other nodes
  /// keep that fraction in the old one and have the rest in the new one.
  virtual void split(const std::vector<Division>& divisions, double share) = 0;
  /// Joins community b to a; can_join() must allow it. The numbers of the communities after b decrease by
  /// one.
  virtual void merge(Index a, Index b) = 0;
  /// Removes community k; can_go() must allow it. The ends of links in k go to other communities. The numbers
  /// of the communities after k decrease by one.
  virtual void drop(Index k) = 0;
  virtual void permute(const std::vector<Index>& order) = 0;

  void write(Writer& out) const override;
  void read(Reader& in) override;

 protected:
  Overlap(const Links& links, Index k, Owners owner) : links_(&links), k_(k), owner_(std::move(owner)) {}
  const Links* links_;
  const LinkModel* pair_blocks_ = nullptr;
  /// The owners of the two communities into which a community is divided. Both inherit its owner. But if only
  /// one of them is the main community of nodes with a label, the other becomes open (without owner); if
  /// neither is, `leaves` becomes open.
  struct PartOwners {
    int rest, leaves;
  };
  std::vector<PartOwners> owners_of_parts(const std::vector<Division>& divisions) const;

  Index k_;
  Owners owner_;  // owner of each of the K communities (owners.h)
  HdpSticks sticks_;
};

/// The proportions of nodes in communities, set to 0 where the label of the node does not allow the
/// community. If all other proportions of a node are 0, they become equal.
Vec allowed_shares(const Links& links, const Shares& shares);

/// Changes of row-major tables with a row for each node and a column for each of K communities.
/// with_columns_divided() appends a column for each division: nodes that leave have `share` of the old entry
/// in the new column and the rest in the old one; other nodes keep `share` in the old one.
/// with_columns_added() adds column b to a and removes b.
Vec with_columns_divided(const Vec& x, Index k, const std::vector<Division>& divisions, double share);
Vec with_columns_added(const Vec& x, Index k, Index a, Index b);
Vec without_column(const Vec& x, Index k, Index column);
Vec with_columns_in_order(const Vec& x, Index k, const std::vector<Index>& order);
Owners in_order(const Owners& owner, const std::vector<Index>& order);

}  // namespace bnpvi::networks
