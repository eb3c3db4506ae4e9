// Splits a cluster of a mixture: alone (births), or after joining some clusters (resplits, exchanges).
#pragma once
#include <optional>

#include "foundation/random.h"
#include "inference/moves/move.h"
#include "mixtures/division.h"
#include "mixtures/mixture.h"

namespace bnpvi::mixtures {

// A move with a smaller gain, in nats, does not make moves that failed before worth trying again. A guess.
constexpr double worth_trying_again = 1;

/// A proposed state, and the memory of failed moves that belongs to its clusters.
struct Proposal {
  State state;
  MoveMemory memory;
};

/// How a cluster may be split.
struct Split {
  /// New clusters, several of them. rows: the target's rows divided among them, by batch; empty if they would
  /// take much memory.
  struct Try {
    Division division;
    std::vector<Redistributed> rows;
  };
  std::vector<Try> tries;  // at most two
  bool foreseen = false;   // a forecast ended a try
};

/// Finds new clusters for the mass that cluster `target` has on the given rows, by batch: birth_size of them
/// in a first try, two in a second one [Hughes 2016, §4.2]. If the number of clusters is fixed, it is two in
/// both. No try is left if all new clusters merged into one. Changes nothing, so that the splits of several
/// clusters can be found at the same time.
Split find_split(const MoveContext& context, const MixtureAlloc& alloc, const State& state,
                 const MoveMemory& memory, Index target, const std::vector<MassOnRows>& by_batch,
                 Stream stream);

/// The state in which the rows are divided as the better of the tries has it, by the ELBO; it need not be the
/// state from which the split was found. Clusters are reordered if that raises the ELBO. Empty if there is no
/// try. The caller compares the ELBO of the proposal with that of the present state. stream: the one with
/// which the split was found.
std::optional<Proposal> proposed(const MoveContext& context, const MixtureAlloc& alloc, const State& state,
                                 const MoveMemory& memory, Index target,
                                 const std::vector<MassOnRows>& by_batch, const Split& split,
                                 const Stream& stream);

/// Proposes to join the clusters `joined` and at the same time to split the cluster with identity `target`.
/// If `target` is one of `joined`, the joined cluster is split. If the ELBO rises, the proposal replaces the
/// state and context.memory, and the gain is returned; otherwise 0. entropy[i]: change of the entropy of
/// batch i by joining. If a pair is joined and split in two again with a gain below `worth_trying_again`, its
/// clusters keep their identities, and with them the memory of failed moves.
double join_and_split(const MoveContext& context, const MixtureAlloc& alloc, State& state, Target joined,
                      const Vec& entropy, std::uint64_t target, const std::vector<MassOnRows>& by_batch,
                      const Stream& stream);

}  // namespace bnpvi::mixtures
