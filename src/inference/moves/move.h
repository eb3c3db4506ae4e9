// The contract of a move, and functions that the moves of all families share.
#pragma once
#include <functional>
#include <memory>
#include <utility>

#include "foundation/pool.h"
#include "inference/learn/state.h"
#include "inference/moves/changes.h"
#include "inference/moves/move_memory.h"
#include "inference/moves/move_options.h"

namespace bnpvi {

/// What a move needs in addition to the state.
struct MoveContext {
  const Problem& problem;
  const MoveOptions& options;
  MoveMemory& memory;
  Visitor& visitor;  // makes the visits of this lap
  Pool& pool;
  Index lap;

  /// The ELBO that a proposal must exceed to be accepted: that of the state plus a margin for rounding.
  double to_beat(const State& state) const;
};

/// The proposals of one kind during one lap (a pass over all batches). A proposal is a new State that
/// replaces the old one only if its ELBO is larger; otherwise the old State is untouched.
class Move {
 public:
  virtual ~Move() = default;

  /// Chooses the proposals of the coming lap; false when there are none.
  virtual bool prepare(const State& state) = 0;
  /// Called before batch b is visited; the watch (a sink) that it returns, unless null, receives the
  /// responsibilities of the visit.
  virtual std::unique_ptr<Watch> watch(const State& /*state*/, Index /*b*/) { return nullptr; }
  /// Called after batch b was visited; seen: the watch that watch() returned for it.
  virtual void after_batch(Index /*b*/, Watch* /*seen*/) {}
  /// Called when all batches have been visited and the ELBO is up to date; may replace the state.
  virtual void after_lap(State&) {}

  Index tried() const { return tried_; }
  Index accepted() const { return accepted_; }

 protected:
  Index tried_ = 0, accepted_ = 0;
};

/// A kind of move that an allocation model offers.
struct MoveKind {
  enum class Turn {
    birth,   // a kind that adds clusters
    merge,   // a kind that joins pairs of clusters
    remove,  // a kind that deletes clusters
    idle     // used in laps in which no other kind has a proposal
  };
  Turn turn;
  bool keeps_k;  // the number of clusters stays the same, so that finite models can use it too
  std::function<std::unique_ptr<Move>(const MoveContext&)> make;
};

/// A kind of move made for an allocation model, which must outlive the moves.
template <class Model>
MoveKind move_kind(MoveKind::Turn turn, bool keeps_k, const Model& model,
                   std::unique_ptr<Move> (*make)(const MoveContext&, const Model&)) {
  return {turn, keeps_k, [&model, make](const MoveContext& context) { return make(context, model); }};
}

/// The largest difference that rounding may cause between two ELBOs of about this value.
double rounding_of(double elbo);

/// The observation model with the prior learned from the clusters of a proposal, if hyperparameters have
/// posteriors and this prior raises the ELBO of the proposal above `present`; otherwise null. It costs some
/// ten factorisations per cluster; when there are many clusters, it is therefore tried only for proposals
/// whose ELBO is close to `present`.
std::shared_ptr<const ObsModel> lifting_prior(const Problem& problem, const State& proposal, double present,
                                              Pool& pool);

/// Learns the prior from the clusters of a state, if hyperparameters have posteriors and that raises the ELBO
/// of the state.
void let_prior_follow(const Problem& problem, State& state, Pool& pool);

/// True when the ELBO of a proposal is above `present`, if necessary under the prior learned from the
/// proposal. In that case the problem uses the learned prior from then on, and the proposal has its ELBO
/// under it.
bool lifts(const Problem& problem, State& proposal, double present, Pool& pool);

/// A copy of the problem with another observation model, which differs from the old one in its prior only.
Problem with_prior(const Problem& problem, const ObsModel& obs);

/// Applies op to state.total, to every batch's summary (on the threads of problem.pool) and to
/// state.assignments, if any; op is called with a Summary& or an Assignments&.
template <class Operation>
void change_summaries(const Problem& problem, State& state, Operation op) {
  if (state.assignments) op(*state.assignments);
  const auto one = [&](Index i) {
    if (i == 0) return op(state.total);
    auto& batch = state.batch[i - 1];
    if (!batch) return;
    auto changed = std::make_shared<Summary>(*batch);
    op(*changed);
    batch = std::move(changed);
  };
  const Index n = static_cast<Index>(state.batch.size()) + 1;
  if (problem.pool) return problem.pool->run(n, one);
  for (Index i = 0; i < n; ++i) one(i);
}

/// Identities of the clusters from which to try births, at most max_births: those that MoveMemory considers
/// worth trying, those with fewest failures first, and among these the largest first. at_least: number of
/// failures allowed even where a try is costly.
std::vector<std::uint64_t> birth_targets(const MoveContext& context, const State& state, int at_least = 0);

/// The summary with T_k reduced to N_k and, if there are covariate patterns, the counts by pattern (the last
/// numbers of T_k): all that the allocation model's terms need.
Summary allocation_part(const Summary& s, Index patterns = 0);

/// Completes changes that remove m clusters: if K is fixed, appends m empty clusters.
Changes keeping_fixed_k(const AllocModel& alloc, Changes changes, Index m = 1);

/// The state after changes that join a pair of clusters, with optimal globals; entropy[i] is the exact change
/// of the entropy of batch i.
State with_joined(const Problem& problem, const State& state, const Changes& changes, const Vec& entropy);

/// Λ(T_a + T_b) − Λ(T_a) − Λ(T_b), K × K symmetric, Λ being the log evidence of a cluster. It is computed for
/// all pairs that may be joined or, when there are more than 2^7 clusters, for each cluster with the 2^5
/// nearest to it (nearest_clusters); −∞ elsewhere (both numbers are guesses).
Vec evidence_of_merging(const ObsModel& obs, const Summary& total, Pool& pool);

/// Sorts clusters by decreasing size if that raises the ELBO (of an ordered allocation model). With
/// remove_empty, and if K is not fixed, also removes clusters without mass. Returns true when anything
/// changed.
bool reorder(const Problem& problem, State& state, MoveMemory& memory, bool remove_empty);

}  // namespace bnpvi
