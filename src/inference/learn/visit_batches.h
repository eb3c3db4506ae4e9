// Visits of batches, several at a time.
#pragma once
#include <memory>
#include <vector>

#include "inference/learn/state.h"

namespace bnpvi {

/// The numbers of all batches.
std::vector<Index> all_batches(const Source& source);

/// Divides these batches, in their order, into waves of `wave` batches.
std::vector<std::vector<Index>> in_waves(const std::vector<Index>& batches, Index wave);

/// Does local steps on some batches at the current globals; their new summaries then replace the old ones in
/// state.total, in this order. Globals and ELBO do not change until refresh(). A batch that stands for an
/// earlier fit (Summary::settled) is not visited. watches: null, or for each batch a watch (or null) that
/// observes its visit.
void visit_batches(const Problem& problem, State& state, const std::vector<Index>& batches, Visitor& visitor,
                   Pool& pool, std::vector<std::unique_ptr<Watch>>* watches = nullptr);

/// The same for all batches.
void visit_all_batches(const Problem& problem, State& state, Visitor& visitor, Pool& pool);

}  // namespace bnpvi
