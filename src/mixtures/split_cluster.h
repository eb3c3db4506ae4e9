// Splitting a cluster of a mixture: shared by births and by splitting a joined pair anew.
#pragma once
#include <optional>

#include "foundation/random.h"
#include "inference/move.h"
#include "mixtures/mixture.h"
#include "mixtures/target_rows.h"

namespace bnpvi::mixtures {

/// A state and what is remembered of its clusters.
struct Proposal {
  State state;
  MoveMemory memory;
};

/// Redistributes the target's mass on the given rows (by batch) among new clusters: the better of a split
/// into many and a split into two [Hughes 2016, §4.2]. Clusters are reordered when that helps; the caller
/// judges the ELBO. Nothing when the rows do not fall into two clusters.
std::optional<Proposal> split_cluster(const MoveContext& context, const MixtureAlloc& alloc,
                                      const State& state, const MoveMemory& memory, Index target,
                                      const std::vector<MassOnRows>& by_batch, Stream& stream);

}  // namespace bnpvi::mixtures
