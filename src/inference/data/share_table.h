// Shares: how much of which clusters each unit of a batch had at its last visit. A ragged table and plain
// value.
#pragma once
#include <functional>
#include <memory>
#include <set>

#include "foundation/archive.h"
#include "observations/feature_block.h"

namespace bnpvi {

/// The share that one unit has of one cluster. The responsibilities of its rows u follow from the shares and
/// from the expected log-likelihoods C at the visit, r_uk ∝ exp(C_u,column + P_k), and sum to N_k; so they
/// are not stored.
struct Share {
  int cluster;        // present number of the cluster
  int column;         // its number at the visit, a column of C
  double count;       // N_k of the unit
  double log_weight;  // P_k, up to a constant of the unit
  double theta;       // θ̂_k = N_k + a_k at the last tangent of log Γ, a the unit's prior
};

/// The shares of one unit, by ascending cluster; a view that does not own them.
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

/// Shares of units that were visited together, one unit after the other, and the log-likelihoods C at that
/// visit: either the weights, from which C is computed again, or (weights null) the numbers C themselves, for
/// each unit its rows under the first of its columns, then under the second, and so on.
struct ShareBlock {
  std::shared_ptr<const Weights> weights;
  std::shared_ptr<const Vec> logs;
  std::vector<Share> share;
  Vec local;  // further numbers of units, as the allocation model has them
};

/// Place of the shares of one unit, and when its next visit searches for another optimum.
struct UnitShares {
  int block = 0;          // number of the block in its table
  int n = 0;              // number of shares
  std::size_t from = 0;   // the first of them in the block
  std::size_t logs = 0;   // the first number of its C in those of the block, if there are any
  int misses = 0;         // searches for another optimum in a row that found none
  int wait = 0;           // visits until the next search
  double weight = 1;      // of the unit
  std::size_t local = 0;  // its first further number in the block, if it has any
  int n_local = 0;
};

/// Appends the shares of a unit, and its further numbers, to a block, which is to have this number in its
/// table; returns their place.
UnitShares remember(ShareBlock& block, int number, Shares share, const Vec& local = {});

/// The shares of all units of a batch, in the order of the units. Memory: 32 bytes for each cluster of each
/// unit, and one set of weights for each visit that left a block. Copies share the blocks, which never
/// change.
struct ShareTable {
  std::vector<UnitShares> unit;
  std::vector<std::shared_ptr<const ShareBlock>> block;

  bool empty() const { return block.empty(); }
  Shares shares(Index i) const;

  /// The weights at the unit's visit, or null: then C is at logs(), rows × columns, column by column.
  const Weights* weights(Index i) const { return block[unit[i].block]->weights.get(); }
  const double* logs(Index i) const { return block[unit[i].block]->logs->data() + unit[i].logs; }

  /// The unit's further numbers; null where it has none.
  const double* local(Index i) const {
    return unit[i].n_local > 0 ? block[unit[i].block]->local.data() + unit[i].local : nullptr;
  }

  Index n_weights() const;  // how many sets of weights it keeps alive

  /// The same with clusters renumbered: number[j] is the new number of cluster j, −1 when it is gone.
  ShareTable renumbered(const std::vector<Index>& number) const;

  /// The same after `change` was called with the shares, and the weight, of every unit in turn.
  ShareTable changed(const std::function<void(std::vector<Share>&, double weight)>& change) const;

  /// The same with units at[0], at[1], ... replaced by units first, first + 1, ... of `newer`.
  ShareTable with(const std::vector<Index>& at, const ShareTable& newer, Index first) const;

  /// The same without the weights in `gone`: blocks that had them store C instead. append(i, c) appends C of
  /// the rows of unit i to c, share by share, under the column of each; `size` numbers in all.
  ShareTable without(const std::set<const Weights*>& gone, std::size_t size,
                     const std::function<void(Index i, Vec& c)>& append) const;

  /// Weights and C that blocks share are written once; weights = false: not at all, as a visit needs neither.
  void write(Writer& out, bool weights = true) const;
  /// weights: of all blocks that were written without.
  static ShareTable read(Reader& in, const std::shared_ptr<const Weights>& weights = nullptr);

 private:
  void drop_unused();  // removes blocks without units
};

}  // namespace bnpvi
