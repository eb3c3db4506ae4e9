// Splitting a cluster of a mixture, by itself (births) or after joining some clusters (resplits, exchanges).
#pragma once
#include <optional>

#include "foundation/random.h"
#include "inference/moves/move.h"
#include "mixtures/mixture.h"
#include "mixtures/target_rows.h"

namespace bnpvi::mixtures {

constexpr double worth_trying_again = 1;  // gain in nats from which failed proposals are tried again; a guess

/// A proposed state, and the memory of failed moves that belongs to its clusters.
struct Proposal {
  State state;
  MoveMemory memory;
};

/// Proposes to redistribute the mass that a target (one or several clusters) has on the given rows, by batch,
/// among new clusters: by a split into birth_size clusters or into two, whichever has the higher ELBO [Hughes
/// 2016, §4.2]; always into two if the number of clusters is fixed. Reorders clusters when that raises the
/// ELBO. The caller compares the ELBO with that of the present state. Empty when all new clusters merged into
/// one.
std::optional<Proposal> split_cluster(const MoveContext& context, const MixtureAlloc& alloc,
                                      const State& state, const MoveMemory& memory, Index target,
                                      const std::vector<MassOnRows>& by_batch, Stream& stream);

/// Proposes to join the clusters `joined` and at the same time to split the cluster with identity `target`
/// (the joined one, if that is the identity of one of them). If the ELBO rises, the proposal replaces the
/// state and context.memory, and the gain is returned; otherwise 0. entropy[i]: change of the entropy of
/// batch i due to joining. If a pair is joined and split in two again with a gain below `worth_trying_again`,
/// its clusters keep their identities, and with them the memory of failed moves.
double join_and_split(const MoveContext& context, const MixtureAlloc& alloc, State& state, Target joined,
                      const Vec& entropy, std::uint64_t target, const std::vector<MassOnRows>& by_batch,
                      Stream& stream);

}  // namespace bnpvi::mixtures
