// Visits of batches, some at a time.
#pragma once
#include <memory>
#include <vector>

#include "inference/learn/state.h"

namespace bnpvi {

/// The numbers of all batches.
std::vector<Index> all_batches(const Source& source);

/// These batches in their order, `wave` at a time.
std::vector<std::vector<Index>> in_waves(const std::vector<Index>& batches, Index wave);

/// Local steps on some batches at the current globals; their new summaries then replace the old ones in
/// state.total, in this order. Globals and ELBO do not change until refresh(). A settled batch is not
/// visited. watches: null, or one for each batch (or null), which on return has what it saw.
void visit_batches(const Problem& problem, State& state, const std::vector<Index>& batches, Visitor& visitor,
                   Pool& pool, std::vector<std::unique_ptr<Watch>>* watches = nullptr);

/// The same with all batches.
void visit_all_batches(const Problem& problem, State& state, Visitor& visitor, Pool& pool);

}  // namespace bnpvi
