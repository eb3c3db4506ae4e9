// Search for the partition of the largest log joint.
#pragma once
#include <cstdint>
#include <functional>

#include "foundation/monitor.h"
#include "foundation/pool.h"
#include "networks/partition.h"

namespace bnpvi::networks {

struct SearchOptions {
  bool births = true, merges = true, deletes = true;
  Index max_laps = 100;
  Index patience = 20;  // laps without a gain after which the search ends; a guess
  std::uint64_t seed = 0;
};

struct SearchEnd {
  Index laps = 0;
  bool converged = false;
};

/// Raises J from where `partition` is. A lap visits every node, then tries to
///   split each cluster in two (births), join pairs (merges), dissolve small clusters node by node (deletes),
///   divide pairs of clusters anew, and go on from a partition that was disturbed more than an accepted move
///   would (a split or merge that loses, followed by visits of all nodes and all merges that pay).
/// With degrees splits are also tried by links within (bisection.h), and disturbances by groups of all nodes
/// made so: what degrees alone explain needs no cluster, and halves at random seldom tell more than that.
/// What is tried is kept where the exact J rises. Trials of a lap begin at the same partition, on the pool's
/// threads, each with random numbers of its own; the best that still pay are kept. Ends when `patience` laps
/// gained nothing. `told` gets a record of every lap.
SearchEnd search(Partition& partition, const SearchOptions& options, Pool& pool,
                 const std::function<void(LapRecord)>& told);

/// Makes splits, the first first, each where it raises J on top of those made before it: two that gain alone
/// may not gain together, as the blocks between their clusters are divided twice. Each of `splits` is labels
/// that divide a cluster of `now`, another one each, and call what leaves it now.k(). Returns how many were
/// made.
Index make_together(Partition& now, const std::vector<std::vector<int>>& splits);

}  // namespace bnpvi::networks
