// Search for the partition of the nodes with the largest log joint density with the data.
#pragma once
#include <optional>

#include "inference/learn/observer.h"
#include "inference/learn/restarts.h"
#include "networks/network_fit.h"
#include "networks/partition.h"

namespace bnpvi::networks {

struct SearchOptions : RestartOptions {
  bool births = true, merges = true, deletes = true;
  Index patience = 20;  // laps without a gain after which the search ends; a guess
  Observer* observer = &nobody;
};

/// A search for the partition with the largest J, its log joint density with the data (partition.h). A lap
/// visits every node, then tries to
///   split each cluster in two (births), join pairs (merges), dissolve small clusters node by node (deletes),
///   divide pairs of clusters anew, and continue from a disturbed partition (a split or merge that lowers J,
///   followed by visits of all nodes and all merges that gain).
/// With degrees, clusters are also split by their links (bisection.h), and groups of all nodes found in this
/// way are used as disturbances: degrees alone then explain much that would otherwise need clusters, and
/// random halves seldom show anything else. Not if labels are known, as such groups would mix classes.
///
/// The trials of a lap begin at the same partition, on the pool's threads, each with separate random numbers.
/// The best are made, one after the other, as long as they raise J. A lap is still when `patience` laps
/// gained at most tol per unit of data.
class PartitionSearch final : public NetworkFit {
 public:
  PartitionSearch(Partition start, const SearchOptions& options, Pool& pool);

  const Partition& partition() const { return now_; }

  LapRecord lap(Index n) override;
  double objective() const override { return now_.log_joint(); }
  bool still() const override { return without_gain_ >= options_.patience || nodes_.size() < 2; }
  double units() const override { return links_.units(); }
  void keep() override { kept_ = now_; }
  void go_back() override { now_ = *kept_; }
  void write(Writer& out) const override;
  void read(Reader& in) override;

 private:
  // The result of a trial, if there is one. A trial counts as a birth or a merge if it raises or lowers the
  // number of clusters.
  struct Trial {
    std::optional<Partition> result;
    double log_joint = 0;
  };
  void settle(Partition& p, const std::vector<int>& nodes);
  void visit_existing(Partition& p);
  Stream stream(std::uint64_t kind, Index trial) const;
  template <class F>
  std::vector<Trial> tried(std::uint64_t kind, Index n, F change);
  void accept(Partition next);
  void splits(LapRecord& record);
  void divisions();
  void disturbances(LapRecord& record);

  Partition now_;
  std::optional<Partition> kept_;
  const Links& links_;
  const SearchOptions options_;
  Pool& pool_;
  std::vector<int> nodes_;    // in the order of visits, which each lap shuffles
  std::uint64_t number_ = 0;  // number of the present lap
  Index without_gain_ = 0;
};

/// Makes splits in the given order, each only if it raises J (the log joint density) after those made before:
/// two splits that gain alone may not gain together, as the blocks between their clusters are divided twice.
/// Each entry of `splits` has labels that divide one cluster of `now`, a different one in each entry, and
/// give the nodes that leave the label now.k(). Returns the number of splits made.
Index make_together(Partition& now, const std::vector<std::vector<int>>& splits, Observer& observer = nobody);

}  // namespace bnpvi::networks
