// Shares: for each unit of a batch (a group of rows), the clusters that it used at its last visit (update of
// q(z)), and its expected count in each.
#pragma once
#include <functional>
#include <memory>
#include <set>

#include "foundation/archive.h"
#include "observations/feature_block.h"

namespace bnpvi {

/// How much of one unit (a group of rows) belongs to one cluster k. The responsibilities r of the unit's rows
/// u are not stored, since they follow from the shares:
///   r_uk ∝ exp(C_u,column + P_k)
/// C: expected log-likelihoods of the rows at the visit (update of q(z)); P_k: log weight of the cluster in
/// the unit. The sum of r_uk over the rows u is N_k.
struct Share {
  int cluster;        // present number of the cluster
  int column;         // column of C that belongs to the cluster: the cluster's number at the visit
  double count;       // N_k, the expected number of the unit's rows in the cluster
  double log_weight;  // P_k, the log weight of the cluster in the unit, up to a constant
  /// θ̂_k = N_k + a_k, the count of the unit in cluster k plus its prior a_k, when the tangent (linear bound)
  /// of log Γ was last computed.
  double theta;
};

/// The shares of one unit (a group of rows), by ascending cluster: a pair of pointers, which does not own
/// them.
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

/// Shares of units (groups of rows) that were visited together, and the expected log-likelihoods C of their
/// rows at that visit. If `logs` is not null, it has C: for each unit column 0 (one number for each of its
/// rows), then column 1, and so on (Share::column). Otherwise C is computed from `weights`, those of the
/// clusters. What rows hide (ExpectedCells) is expected under `weights` in either case.
struct ShareBlock {
  std::shared_ptr<const Weights> weights;
  std::shared_ptr<const Vec> logs;
  std::vector<Share> share;
  Vec local;  // further numbers of the units, as the allocation model defines them
};

/// Where in a ShareTable the shares (clusters and counts) of one unit, a group of rows, are stored, and when
/// its next visit (update of q(z)) searches for another local optimum.
struct UnitShares {
  int block = 0;          // index of the block in ShareTable::block
  int n = 0;              // number of shares
  std::size_t from = 0;   // index of the first share in the block
  std::size_t logs = 0;   // index of the unit's first number in ShareBlock::logs, if C is stored
  int misses = 0;         // number of consecutive searches for another optimum that failed
  int wait = 0;           // number of visits until the next search
  double weight = 1;      // weight of the unit
  std::size_t local = 0;  // index of the unit's first number in ShareBlock::local, if any
  int n_local = 0;
};

/// Appends the shares (clusters and counts) of a unit, a group of rows, and its further numbers, to a block
/// of a table and returns where they are stored. number: the block's number in its table.
UnitShares remember(ShareBlock& block, int number, Shares share, const Vec& local = {});

/// The shares of all units (groups of rows) of a batch, in the order of the units. Memory: 32 bytes for each
/// share, and a set of weights for each visit whose block is still used. Copies share the blocks, which never
/// change.
struct ShareTable {
  std::vector<UnitShares> unit;
  std::vector<std::shared_ptr<const ShareBlock>> block;

  bool empty() const { return block.empty(); }
  Shares shares(Index i) const;

  /// The weights of the clusters at the last visit (update of q(z)) of unit i. The log-likelihoods C of its
  /// rows are computed from them, unless C is stored, at logs(i): rows × columns, column by column.
  const Weights* weights(Index i) const { return block[unit[i].block]->weights.get(); }
  const double* logs(Index i) const { return block[unit[i].block]->logs->data() + unit[i].logs; }

  /// The numbers of unit i that only its allocation model uses (ShareBlock::local); null if there are none.
  const double* local(Index i) const {
    return unit[i].n_local > 0 ? block[unit[i].block]->local.data() + unit[i].local : nullptr;
  }

  Index n_weights() const;  // number of sets of clusters' weights that the table keeps in memory

  /// A copy of the table with clusters renumbered: number[j] is the new number of cluster j, −1 if it was
  /// removed.
  ShareTable renumbered(const std::vector<Index>& number) const;

  /// A copy of the table after `change` was applied to the shares (clusters and counts) of each unit (group
  /// of rows) in turn. weight: the unit's weight.
  ShareTable changed(const std::function<void(std::vector<Share>&, double weight)>& change) const;

  /// A copy of the table in which units at[0], at[1], ... are replaced by units first, first + 1, ... of the
  /// table `newer`.
  ShareTable with(const std::vector<Index>& at, const ShareTable& newer, Index first) const;

  /// A copy of the table without the sets of weights in `gone`. Blocks that used them store the
  /// log-likelihoods C of their units instead. size: how many numbers these are in all. append(i, c): appends
  /// C of the rows of unit i to c, one column for each share.
  ShareTable without(const std::set<const Weights*>& gone, std::size_t size,
                     const std::function<void(Index i, Vec& c)>& append) const;

  /// Writes the table. Weights and log-likelihoods C that several blocks share are written once. weights =
  /// false: neither is written; this suffices for the next visit (update of q(z)).
  void write(Writer& out, bool weights = true) const;
  /// Reads a table. weights: the weights to use for all blocks that were written without weights.
  static ShareTable read(Reader& in, const std::shared_ptr<const Weights>& weights = nullptr);

 private:
  void drop_unused();  // removes blocks without units
};

}  // namespace bnpvi
