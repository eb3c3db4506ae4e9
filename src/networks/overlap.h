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

/// The expected number of link ends of one node in community k: of its links in which it acts as a member of
/// k.
struct Ends {
  Index k;
  double value;
};

/// Changes of communities that visit only the nodes of the communities concerned, and their links. The rest
/// of q is held fixed, so that the gain found here is a lower bound. A change is kept if it raises the whole
/// bound by more than `least`, and its gain is returned; otherwise 0 is returned and the state is as before.
/// When a community is removed, the last one gets its number.
class LocalMoves {
 public:
  virtual ~LocalMoves() = default;
  virtual double split_here(const Division& division, double share, double least) = 0;
  virtual double merge_here(Index a, Index b, double least) = 0;
  /// Joins communities a and b and divides them anew: nodes in `leaves` have the fraction `share` of their
  /// part in b and the rest in a; other nodes have that fraction in a and the rest in b.
  virtual double divide_here(Index a, Index b, const std::vector<int>& leaves, double share,
                             double least) = 0;
  virtual double drop_here(Index k, double least) = 0;
};

/// A state that can take steps of stochastic learning, each from a sample of nodes.
class NodeSteps {
 public:
  /// Makes one step of stochastic learning. The natural gradient of the bound with respect to q(φ), all else
  /// held fixed, is a sum over pairs of nodes minus the present parameters of q(φ). The sum is estimated from
  /// the pairs of `nodes`, each pair counted half at each of its ends, times n over their number, and with
  /// the exact sums over all nodes; the estimate is unbiased over all sets of so many nodes. q(φ) moves by
  /// `rate` towards the estimate; then these nodes are visited, and the sticks are updated from sums over all
  /// nodes. The bound is exact again after a lap().
  virtual void step(const std::vector<int>& nodes, double rate) = 0;
  /// Called when steps have visited all nodes once (a lap).
  virtual void end_steps() = 0;

 protected:
  ~NodeSteps() = default;
};

/// Optional abilities of a state of overlapping communities; a pointer is null where the state lacks the
/// ability.
struct OverlapCapabilities {
  NodeSteps* steps = nullptr;
  LocalMoves* local = nullptr;  // changes that are judged by the nodes concerned, without a lap
};

/// A state of variational inference with K overlapping communities; every node has some part in each
/// community that its label allows (owners.h). A plain value that lap() improves and that split(), merge(),
/// drop() and permute() change; states are compared only by the whole bound.
class Overlap : public StoredState {
 public:
  virtual std::unique_ptr<Overlap> copy() const = 0;
  /// Makes a state of the same model and network that starts from these proportions of nodes in communities.
  virtual std::unique_ptr<Overlap> anew(const Shares& start) const = 0;

  Index k() const { return k_; }
  const Owners& owner() const { return owner_; }
  bool allows(Index i, Index k) const { return links_->allows(i, owner_[k]); }
  const Links& links() const { return *links_; }
  const HdpSticks& sticks() const { return sticks_; }
  /// The expected numbers of link ends of node i in communities: of its links in which it acts as a member of
  /// k. Only numbers above 0, by ascending k.
  virtual std::vector<Ends> ends(Index i) const = 0;
  /// The community where node i has most expected link ends; for a node without links the first that it may
  /// be in.
  Index main_community(Index i) const;
  /// The model of blocks, if every pair of communities has a block: the two halves of a community then need
  /// not have many links within. Otherwise null.
  const LinkModel* blocks() const { return pair_blocks_; }
  virtual OverlapCapabilities capabilities() = 0;

  /// Updates q of all links, q of all nodes, and the global parameters, once each; the bound never falls.
  virtual void lap() = 0;
  /// The named terms of the bound, exact for the present q: all pairs of nodes are included.
  virtual std::vector<std::pair<std::string, double>> terms() const = 0;
  double bound() const {
    double sum = 0;
    for (const auto& term : terms()) sum += term.second;
    return sum;
  }
  /// Expected membership proportions of node i among the K communities, K numbers; they sum to 1.
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

  // Functions that change the communities; lap(), an update of all of q, then makes q consistent again. A
  // community keeps its number unless stated otherwise.

  /// Divides communities, each at most once; the new communities come last. Nodes that leave have the
  /// fraction `share` of their membership in the new community; the others keep that fraction in the old one.
  virtual void split(const std::vector<Division>& divisions, double share) = 0;
  /// Joins community b to a, which can_join() must allow; the numbers of later communities decrease by one.
  virtual void merge(Index a, Index b) = 0;
  /// Removes community k, which can_go() must allow. The parts of k in links go to the other communities; the
  /// numbers of later communities decrease by one.
  virtual void drop(Index k) = 0;
  virtual void permute(const std::vector<Index>& order) = 0;

  void write(Writer& out) const override;
  void read(Reader& in) override;

 protected:
  Overlap(const Links& links, Index k, Owners owner) : links_(&links), k_(k), owner_(std::move(owner)) {}
  const Links* links_;
  const LinkModel* pair_blocks_ = nullptr;
  /// The classes that own the two communities into which a community is divided. If the community has an
  /// owner, one of the two is nevertheless open (not owned) if it is not the main community of any node with
  /// a label.
  struct PartOwners {
    int rest, leaves;
  };
  std::vector<PartOwners> owners_of_parts(const std::vector<Division>& divisions) const;

  Index k_;
  Owners owner_;  // owner of each of the K communities (owners.h)
  HdpSticks sticks_;
};

/// The proportions of nodes in communities, where a node with a label has 0 in communities that it may not be
/// in. If the others are all 0, they become even.
Vec allowed_shares(const Links& links, const Shares& shares);

/// Operations on row-major tables with a column for each of K communities: divide a column, add one to
/// another, remove one, reorder. with_columns_divided() appends a column for each division: rows (nodes) that
/// leave have `share` of the old column there and keep the rest; other rows keep `share` and have the rest in
/// the new column.
Vec with_columns_divided(const Vec& x, Index k, const std::vector<Division>& divisions, double share);
Vec with_columns_added(const Vec& x, Index k, Index a, Index b);
Vec without_column(const Vec& x, Index k, Index column);
Vec with_columns_in_order(const Vec& x, Index k, const std::vector<Index>& order);
Owners in_order(const Owners& owner, const std::vector<Index>& order);

}  // namespace bnpvi::networks
