// Visits of batches, some at a time.
#pragma once
#include <memory>
#include <vector>

#include "inference/learn/state.h"

namespace bnpvi {

/// The numbers of all batches.
std::vector<Index> all_batches(const Source& source);

/// These batches in their order, so many at a time.
std::vector<std::vector<Index>> in_waves(const std::vector<Index>& batches, Index wave);

/// Local steps on some batches at the current globals; their new summaries then replace the old ones in
/// state.total, in this order. Globals and ELBO are left as they were until refresh(). A settled batch stays
/// as it is. watches: of each batch (or null), where `watches` ends with what they saw; or null.
void visit_batches(const Problem& problem, State& state, const std::vector<Index>& batches, Visitor& visitor,
                   Pool& pool, std::vector<std::unique_ptr<Watch>>* watches = nullptr);

/// The same with all batches.
void visit_all_batches(const Problem& problem, State& state, Visitor& visitor, Pool& pool);

}  // namespace bnpvi
