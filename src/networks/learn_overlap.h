// Learning overlapping communities and their number.
#pragma once
#include <cstdint>
#include <functional>

#include "foundation/monitor.h"
#include "foundation/pool.h"
#include "networks/overlap.h"

namespace bnpvi::networks {

struct OverlapOptions {
  bool births = true, merges = true, deletes = true, reorder = true;
  Index max_laps = 100;    // of all communities together; those of trials do not count
  Index trials = 10;       // births, merges and deletes, each, that a round tries at most
  Index disturbances = 1;  // rounds of them in a row that gain nothing, after which the search ends
  double large = 1e3;      // links and nodes from which a network counts as large
  double tol = 1e-6;
  std::uint64_t seed = 0;
};

struct OverlapEnd {
  std::unique_ptr<Overlap> state;
  Index laps = 0;
  bool converged = false;
};

/// Laps until the bound rises by less than tol · (1 + |bound|), then a round of moves, and so on until a
/// round gains nothing. Of a round:
///   all communities split at once, which is how their number grows fast; some split one by one (births);
///   pairs that share most nodes or links joined (merges); the smallest dropped (deletes); clusters in
///   another order of sticks.
/// Every proposal is the changed state after some laps, and replaces the state only if its whole bound is
/// larger. Trials run on the pool's threads from the same state, the best is kept.
OverlapEnd learn_overlap(std::unique_ptr<Overlap> start, const OverlapOptions& options, Pool& pool,
                         const std::function<void(LapRecord)>& told);

}  // namespace bnpvi::networks
