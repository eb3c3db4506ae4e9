// Visits of batches (updates of q(z) of their units), several at a time.
#pragma once
#include <memory>
#include <vector>

#include "inference/learn/state.h"

namespace bnpvi {

/// Returns the numbers of all batches, 0 to their number − 1.
std::vector<Index> all_batches(const Source& source);

/// Divides these batches, in their order, into waves of `wave` batches. The batches of a wave are visited
/// with the same globals.
std::vector<std::vector<Index>> in_waves(const std::vector<Index>& batches, Index wave);

/// Visits these batches: updates q(z) of their units with the present globals. Then replaces their old
/// summaries (sums of statistics) in state.total by the new ones, in the order of `batches`. Globals and ELBO
/// do not change until refresh(). A batch that stands for the data of an earlier fit (settled_part()) is not
/// visited. watches: for each batch a receiver of its responsibilities, or null; may be empty.
void visit_batches(const Problem& problem, State& state, const std::vector<Index>& batches, Visitor& visitor,
                   Pool& pool, std::vector<std::unique_ptr<Watch>>* watches = nullptr);

/// Visits every batch once by visit_batches(): updates q(z) and the sums of statistics.
void visit_all_batches(const Problem& problem, State& state, Visitor& visitor, Pool& pool);

}  // namespace bnpvi
