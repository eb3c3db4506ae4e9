// Visits of batches, several at a time.
#pragma once
#include <memory>
#include <vector>

#include "inference/learn/state.h"

namespace bnpvi {

/// The numbers of all batches.
std::vector<Index> all_batches(const Source& source);

/// Divides these batches, in their order, into waves: sets of `wave` batches that are visited at the same
/// globals.
std::vector<std::vector<Index>> in_waves(const std::vector<Index>& batches, Index wave);

/// Visits some batches: does local steps (updates of q(z)) on their units at the current globals. The new
/// summaries of the batches then replace the old ones in state.total, in this order. Globals and ELBO do not
/// change until refresh(). A batch that stands for an earlier fit (Summary::settled) is not visited. watches:
/// null, or for each batch a watch (a sink for responsibilities), or null, that observes its visit.
void visit_batches(const Problem& problem, State& state, const std::vector<Index>& batches, Visitor& visitor,
                   Pool& pool, std::vector<std::unique_ptr<Watch>>* watches = nullptr);

/// Visits all batches by visit_batches(), without watches.
void visit_all_batches(const Problem& problem, State& state, Visitor& visitor, Pool& pool);

}  // namespace bnpvi
