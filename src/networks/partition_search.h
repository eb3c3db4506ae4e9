// Search for the partition of the largest log joint.
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

/// Raises J. A lap visits every node, then tries to
///   split each cluster in two (births), join pairs (merges), dissolve small clusters node by node (deletes),
///   divide pairs of clusters anew, and go on from a partition that was disturbed more than an accepted move
///   would (a split or merge that loses, followed by visits of all nodes and all merges that pay).
/// With degrees splits are also tried by links within (bisection.h), and disturbances by groups of all nodes
/// made so, where no labels are known, which such groups would mix: what degrees alone explain needs no
/// cluster, and halves at random seldom tell more than that.
/// What is tried is kept where the exact J rises. Trials of a lap begin at the same partition, on the pool's
/// threads, each with random numbers of its own; the best that still pay are kept. Still when `patience` laps
/// gained at most tol for each unit.
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
  // A trial: what happened to the number of clusters decides as what it counts.
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
  std::vector<int> nodes_;    // in the order of their visits, which each lap draws from that of the last
  std::uint64_t number_ = 0;  // of the lap
  Index without_gain_ = 0;
};

/// Makes splits, the first first, each where it raises J on top of those made before it: two that gain alone
/// may not gain together, as the blocks between their clusters are divided twice. Each of `splits` is labels
/// that divide a cluster of `now`, another one each, and call what leaves it now.k(). Returns how many were
/// made.
Index make_together(Partition& now, const std::vector<std::vector<int>>& splits, Observer& observer = nobody);

}  // namespace bnpvi::networks
