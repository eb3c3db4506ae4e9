// Splitting a cluster of a mixture: shared by births and by splitting a joined pair anew.
#pragma once
#include <optional>

#include "foundation/random.h"
#include "inference/move.h"
#include "mixtures/mixture.h"
#include "mixtures/target_rows.h"

namespace bnpvi::mixtures {

/// A state with the memory of moves that belongs to its clusters.
struct Proposal {
  State state;
  MoveMemory memory;
};

/// Redistributes the target's mass on the given rows (by batch) among new clusters: by a split into
/// birth_size clusters or into two, whichever has the higher ELBO [Hughes 2016, §4.2]; with a fixed K into
/// two. Clusters are reordered when that raises the ELBO; the caller compares it with that of the present
/// state. Empty when all new clusters merged into one.
std::optional<Proposal> split_cluster(const MoveContext& context, const MixtureAlloc& alloc,
                                      const State& state, const MoveMemory& memory, Index target,
                                      const std::vector<MassOnRows>& by_batch, Stream& stream);

}  // namespace bnpvi::mixtures
