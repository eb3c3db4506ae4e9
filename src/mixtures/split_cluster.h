// Splitting a cluster of a mixture, alone (births) or after joining some (resplits, exchanges).
#pragma once
#include <optional>

#include "foundation/random.h"
#include "inference/moves/move.h"
#include "mixtures/mixture.h"
#include "mixtures/target_rows.h"

namespace bnpvi::mixtures {

constexpr double worth_trying_again = 1;  // nats: a gain from which on what failed may succeed; a guess

/// A state with the memory of moves that belongs to its clusters.
struct Proposal {
  State state;
  MoveMemory memory;
};

/// Redistributes the target's mass on the given rows (by batch) among new clusters: by a split into
/// birth_size or into two, whichever has the higher ELBO [Hughes 2016, §4.2]; with a fixed K into two.
/// Clusters are reordered when that raises the ELBO; the caller compares it with that of the present state.
/// Empty when all new clusters merged into one.
std::optional<Proposal> split_cluster(const MoveContext& context, const MixtureAlloc& alloc,
                                      const State& state, const MoveMemory& memory, Index target,
                                      const std::vector<MassOnRows>& by_batch, Stream& stream);

/// Joins clusters and splits the one with identity `target` (that of one of them means the joined one), in
/// one proposal. When the ELBO rises, the proposal replaces the state and context.memory; returns by how much
/// it did, or 0. entropy[i] is the change of the entropy of batch i that comes from joining. A pair that is
/// split into two with a gain below `worth_trying_again` keeps its identities and what failed with them.
double join_and_split(const MoveContext& context, const MixtureAlloc& alloc, State& state, Target joined,
                      const Vec& entropy, std::uint64_t target, const std::vector<MassOnRows>& by_batch,
                      Stream& stream);

}  // namespace bnpvi::mixtures
