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
  Index patience = 20;  // the search ends after so many laps without a gain; a guess
  Observer* observer = &nobody;
};

/// A search for the partition with the largest J, its log joint density with the data (partition.h). A lap
/// visits every node, then tries to
///   - split each cluster into two (births),
///   - join pairs of clusters (merges),
///   - dissolve small clusters, node by node (deletes),
///   - divide pairs of clusters anew,
///   - start from a disturbed partition: a split or merge that lowers J is followed by visits of all nodes
///     and by all merges that raise J.
/// With degree correction, clusters are also split by links (bisection.h), and groups of all nodes found in
/// this way serve as disturbed partitions. Degrees then explain much that would otherwise need clusters, and
/// random halves seldom find the rest. This is not done if labels are known, as such groups would mix
/// classes.
///
/// The trials of a lap start from the same partition and run on the threads of the pool, each with separate
/// random numbers. The best ones are made, one after the other, as long as they raise J. The search is still
/// after `patience` laps that each gained at most tol per unit of data.
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
  // The result of a trial; empty if it led to nothing. It counts as a birth if it raises the number of
  // clusters, and as a merge if it lowers it.
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

/// Makes splits in the given order. Each is made only if it raises J (the log joint density) after the
/// earlier ones: two splits that gain alone may not gain together, as both divide the block between their
/// clusters. Each entry of `splits` has the labels of all nodes if one cluster of `now` is split: the nodes
/// that leave it have label now.k(). Different entries split different clusters. Returns the number of splits
/// made.
Index make_together(Partition& now, const std::vector<std::vector<int>>& splits, Observer& observer = nobody);

}  // namespace bnpvi::networks
