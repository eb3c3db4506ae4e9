// Splits a cluster of a mixture: alone (births), or after joining some clusters (resplits, exchanges).
#pragma once
#include <optional>

#include "foundation/random.h"
#include "inference/moves/move.h"
#include "mixtures/mixture.h"
#include "mixtures/target_rows.h"

namespace bnpvi::mixtures {

// A move with a smaller gain, in nats, does not make moves that failed before worth trying again. A guess.
constexpr double worth_trying_again = 1;

/// A proposed state, and the memory of failed moves that belongs to its clusters.
struct Proposal {
  State state;
  MoveMemory memory;
};

/// Proposes to divide the mass that cluster `target` has on the given rows, by batch, among new clusters. It
/// is split into birth_size clusters and into two; the split with the higher ELBO is proposed [Hughes 2016,
/// §4.2]. If the number of clusters is fixed, it is always split into two. Clusters are reordered if that
/// raises the ELBO. Empty if all new clusters merged into one. The caller compares the ELBO of the proposal
/// with that of the present state.
std::optional<Proposal> split_cluster(const MoveContext& context, const MixtureAlloc& alloc,
                                      const State& state, const MoveMemory& memory, Index target,
                                      const std::vector<MassOnRows>& by_batch, Stream& stream);

/// Proposes to join the clusters `joined` and at the same time to split the cluster with identity `target`.
/// If `target` is one of `joined`, the joined cluster is split. If the ELBO rises, the proposal replaces the
/// state and context.memory, and the gain is returned; otherwise 0. entropy[i]: change of the entropy of
/// batch i by joining. If a pair is joined and split in two again with a gain below `worth_trying_again`, its
/// clusters keep their identities, and with them the memory of failed moves.
double join_and_split(const MoveContext& context, const MixtureAlloc& alloc, State& state, Target joined,
                      const Vec& entropy, std::uint64_t target, const std::vector<MassOnRows>& by_batch,
                      Stream& stream);

}  // namespace bnpvi::mixtures
