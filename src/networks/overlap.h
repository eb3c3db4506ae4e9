// What models of overlapping communities share, for the search for their number.
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

/// Link ends of a node in a community.
struct Ends {
  Index k;
  double value;
};

/// Changes that visit no more than the nodes of the communities concerned, and their links. The rest of q is
/// held, so that a change may be worth more than is found here, but never less. Each is kept where it raises
/// the whole bound by more than `least`, which every verb returns as the gain; otherwise it returns 0 and the
/// state is as it was. A community that goes gives its number to the last.
class LocalMoves {
 public:
  virtual ~LocalMoves() = default;
  virtual double split_here(const Division& division, double share, double least) = 0;
  virtual double merge_here(Index a, Index b, double least) = 0;
  /// a and b joined, and divided anew: what the nodes that leave have there goes to b by this share.
  virtual double divide_here(Index a, Index b, const std::vector<int>& leaves, double share,
                             double least) = 0;
  virtual double drop_here(Index k, double least) = 0;
};

/// Steps of stochastic learning.
class NodeSteps {
 public:
  /// The natural gradient of the bound with respect to q(φ), all else held, is a sum over pairs of nodes,
  /// less what q(φ) has; it is estimated from the pairs of `nodes`, every pair half at each of its ends,
  /// times n over their number, with the exact sums over all nodes: its mean over all sets of as many nodes
  /// is the gradient itself. q(φ) goes `rate` of the way, then these nodes are visited, and the sticks follow
  /// from sums over all nodes. The bound is right again after a lap().
  virtual void step(const std::vector<int>& nodes, double rate) = 0;
  /// After steps that visited all nodes.
  virtual void end_steps() = 0;

 protected:
  ~NodeSteps() = default;
};

/// What a state can do beside laps and changes; null where it cannot.
struct OverlapCapabilities {
  NodeSteps* steps = nullptr;
  LocalMoves* local = nullptr;  // the changes that can be judged without a lap
};

/// A state of variational inference: K communities, in each of which every node has some part that may be in
/// it (owners.h). A plain value that lap() improves and the other verbs change; only whole bounds of states
/// are ever compared.
class Overlap : public StoredState {
 public:
  virtual std::unique_ptr<Overlap> copy() const = 0;
  /// The same model and network from these shares on.
  virtual std::unique_ptr<Overlap> anew(const Shares& start) const = 0;

  Index k() const { return k_; }
  const Owners& owner() const { return owner_; }
  bool allows(Index i, Index k) const { return links_->allows(i, owner_[k]); }
  const Links& links() const { return *links_; }
  const HdpSticks& sticks() const { return sticks_; }
  /// Expected link ends of node i: how many of its links it has as a member of k; those that are not 0, in
  /// ascending order of k.
  virtual std::vector<Ends> ends(Index i) const = 0;
  /// Where it has most of them; without any the first community that it may be in.
  Index main_community(Index i) const;
  /// The model of blocks where every pair of communities has one: then halves of a community need not be
  /// dense. Null elsewhere.
  const LinkModel* blocks() const { return pair_blocks_; }
  virtual OverlapCapabilities capabilities() = 0;

  /// One step each for q of all links, all nodes and the global parameters; the bound never falls.
  virtual void lap() = 0;
  /// Named terms of the bound, exact for the present q: no pair is sampled.
  virtual std::vector<std::pair<std::string, double>> terms() const = 0;
  double bound() const {
    double sum = 0;
    for (const auto& term : terms()) sum += term.second;
    return sum;
  }
  /// Expected membership proportions of node i among the K communities, K numbers; they sum to 1.
  virtual Vec proportions(Index i) const = 0;
  /// E φ_k of the communities, then of the background.
  virtual Vec rates() const = 0;
  /// Arrays of q, by name, with their numbers of columns (rows follow).
  struct Array {
    std::string name;
    Index columns;
    Vec value;
  };
  virtual std::vector<Array> arrays() const = 0;

  // Changes, after which lap() makes q consistent again. A community keeps its number but where said.
  /// Communities are divided, each once at most. The nodes that leave have this share of their part in a new
  /// community, which comes last; the others keep this share.
  virtual void split(const std::vector<Division>& divisions, double share) = 0;
  /// b becomes part of a, which can_join() allows; later communities move up.
  virtual void merge(Index a, Index b) = 0;
  /// k goes, which can_go() allows, what its links have is left to the others; later communities move up.
  virtual void drop(Index k) = 0;
  virtual void permute(const std::vector<Index>& order) = 0;

  void write(Writer& out) const override;
  void read(Reader& in) override;

 protected:
  Overlap(const Links& links, Index k, Owners owner) : links_(&links), k_(k), owner_(std::move(owner)) {}
  const Links* links_;
  const LinkModel* pair_blocks_ = nullptr;
  /// Owners of the parts of a community of a class: one that is not the main community of any node with a
  /// label is open, as nobody said that it is the class's.
  struct PartOwners {
    int rest, leaves;
  };
  std::vector<PartOwners> owners_of_parts(const std::vector<Division>& divisions) const;

  Index k_;
  Owners owner_;  // K
  HdpSticks sticks_;
};

/// The shares, of nodes with a label in communities that they may be in alone: where those are 0, even ones.
Vec allowed_shares(const Links& links, const Shares& shares);

/// Columns of row-major tables with K columns a row. Divided: rows that leave have the share in a new last
/// column and the rest in the old one, other rows the other way round.
Vec with_columns_divided(const Vec& x, Index k, const std::vector<Division>& divisions, double share);
Vec with_columns_added(const Vec& x, Index k, Index a, Index b);
Vec without_column(const Vec& x, Index k, Index column);
Vec with_columns_in_order(const Vec& x, Index k, const std::vector<Index>& order);
Owners in_order(const Owners& owner, const std::vector<Index>& order);

}  // namespace bnpvi::networks
