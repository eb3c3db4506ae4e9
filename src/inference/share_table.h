// What each unit of a batch has of which clusters, as of its last visit: a ragged table, a plain value.
#pragma once
#include <functional>
#include <memory>
#include <set>

#include "foundation/archive.h"
#include "observations/feature_block.h"

namespace bnpvi {

/// What one unit has of one cluster. Its responsibilities are a function of the log weights P and of the
/// expected log-likelihoods C at the visit, r_uk ∝ exp(C_u,column + P_k) for its rows u, and give its count
/// N_k.
struct Share {
  int cluster;        // present number of the cluster
  int column;         // its number at the visit, a column of C
  double count;       // N_k of the unit
  double log_weight;  // P_k, up to a constant of the unit
  double theta;  // where log Γ(· + a_k) is touched, θ̂_k = N_k + a_k at that time, a the unit's prior
};

/// The shares of one unit, by cluster, ascending: a view of memory that others own.
class Shares {
 public:
  Shares() = default;
  Shares(const Share* first, std::size_t n) : first_(first), n_(n) {}
  Shares(const std::vector<Share>& all) : Shares(all.data(), all.size()) {}

  const Share* begin() const { return first_; }
  const Share* end() const { return first_ + n_; }
  std::size_t size() const { return n_; }
  bool empty() const { return n_ == 0; }
  const Share& operator[](std::size_t j) const { return first_[j]; }

 private:
  const Share* first_ = nullptr;
  std::size_t n_ = 0;
};

/// Units that were visited together: their shares, one after the other, and C, either as the weights at the
/// visit or, where these are null, number by number: of a unit its rows under each of its columns in turn.
struct ShareBlock {
  std::shared_ptr<const Weights> weights;
  std::shared_ptr<const Vec> logs;
  std::vector<Share> share;
};

/// Where the shares of one unit are, and what its next visit should know.
struct UnitShares {
  int block = 0;         // number of the block in its table
  int n = 0;             // shares,
  std::size_t from = 0;  // the first of them in the block
  std::size_t logs = 0;  // the first number of its C in those of the block, if there are any
  int misses = 0;        // searches for another optimum in a row that found none
  int wait = 0;          // visits until the next search
};

/// Appends a unit to a block that is to have this number in its table.
UnitShares remember(ShareBlock& block, int number, Shares share);

/// Of all units of a batch, in their order. With shares() and C a unit's responsibilities can be had again
/// without ever being stored. 32 bytes for each cluster of each unit, and one set of weights for each visit
/// of many units. Copies share the blocks, which never change.
struct ShareTable {
  std::vector<UnitShares> unit;
  std::vector<std::shared_ptr<const ShareBlock>> block;

  bool empty() const { return block.empty(); }
  Shares shares(Index i) const;

  /// The weights at the unit's visit, or null: then C is at logs(), rows × columns, column by column.
  const Weights* weights(Index i) const { return block[unit[i].block]->weights.get(); }
  const double* logs(Index i) const { return block[unit[i].block]->logs->data() + unit[i].logs; }

  Index n_weights() const;  // different ones that it keeps alive

  /// The same with clusters renumbered: number[j] is the new number of cluster j, −1 when it is gone.
  ShareTable renumbered(const std::vector<Index>& number) const;

  /// The same with a change made to the shares of every unit, one after the other.
  ShareTable changed(const std::function<void(std::vector<Share>&)>& change) const;

  /// The same with units at[0], at[1], ... as those of `newer` from `first` on are.
  ShareTable with(const std::vector<Index>& at, const ShareTable& newer, Index first) const;

  /// The same without some of the weights. append(i, c) appends to c what unit i needs of them: C of its rows
  /// under the columns of its shares, share by share; `size` numbers in all.
  ShareTable without(const std::set<const Weights*>& gone, std::size_t size,
                     const std::function<void(Index i, Vec& c)>& append) const;

  void write(Writer& out) const;  // weights and C that blocks share are written once
  static ShareTable read(Reader& in);

 private:
  void drop_unused();  // blocks
};

}  // namespace bnpvi
