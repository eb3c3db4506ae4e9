// The contract of a move, and what the moves of all families share.
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
  Visitor& visitor;  // of this lap
  Pool& pool;
  Index lap;

  /// The ELBO that a proposal has to exceed to be accepted: that of the state, but for rounding.
  double to_beat(const State& state) const;
};

/// Proposals of one kind during one lap. A proposal is a new State that replaces the old one only if its
/// ELBO is larger; otherwise the old State is untouched.
class Move {
 public:
  virtual ~Move() = default;

  /// Chooses what to try in the coming lap; false when there is nothing.
  virtual bool prepare(const State& state) = 0;
  /// Called before batch b is visited; what comes back (may be null) sees its responsibilities.
  virtual std::unique_ptr<Watch> watch(const State& /*state*/, Index /*b*/) { return nullptr; }
  /// Called after batch b was visited, with what watch() returned for it.
  virtual void after_batch(Index /*b*/, Watch* /*seen*/) {}
  /// Called once all batches were visited and the ELBO is up to date; may replace the state.
  virtual void after_lap(State&) {}

  Index tried() const { return tried_; }
  Index accepted() const { return accepted_; }

 protected:
  Index tried_ = 0, accepted_ = 0;
};

/// A kind of move that an allocation model offers.
struct MoveKind {
  enum class Turn {
    birth,   // adds clusters
    merge,   // joins pairs
    remove,  // deletes clusters
    idle     // in laps in which no other kind has anything to try
  };
  Turn turn;
  bool keeps_k;  // does not change the number of clusters, so that finite models use it too
  std::function<std::unique_ptr<Move>(const MoveContext&)> make;
};

/// A kind whose moves are made for an allocation model, which has to outlive them.
template <class Model>
MoveKind move_kind(MoveKind::Turn turn, bool keeps_k, const Model& model,
                   std::unique_ptr<Move> (*make)(const MoveContext&, const Model&)) {
  return {turn, keeps_k, [&model, make](const MoveContext& context) { return make(context, model); }};
}

/// By how much rounding may make two ELBOs of about this value differ.
double rounding_of(double elbo);

/// The observation model under the prior that the clusters of a proposal teach, where that has a posterior
/// and lifts the ELBO of the proposal above `present`; else null. Costs as many factorisations as there are
/// clusters, some ten times: where they are many, only proposals that are close are judged.
std::shared_ptr<const ObsModel> lifting_prior(const Problem& problem, const State& proposal, double present,
                                              Pool& pool);

/// Lets a prior that has a posterior follow the clusters of a state, where that raises its ELBO.
void let_prior_follow(const Problem& problem, State& state, Pool& pool);

/// True when the ELBO of a proposal is above `present`, if need be under the prior that it teaches. The
/// problem then has the prior that it teaches from now on, and the proposal its ELBO under it.
bool lifts(const Problem& problem, State& proposal, double present, Pool& pool);

/// The same problem under another prior of observations.
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

/// Identities of the clusters to try births from, at most max_births: those that MoveMemory finds worth
/// trying, those with fewest failures first and of these the largest. at_least: failures allowed even
/// where a try costs much.
std::vector<std::uint64_t> birth_targets(const MoveContext& context, const State& state, int at_least = 0);

/// The summary with T_k cut down to N_k and the counts by covariate pattern, of which there are none or the
/// last numbers of T_k: all that the allocation model's terms need.
Summary allocation_part(const Summary& s, Index patterns = 0);

/// Changes that take m clusters away, completed: where K is fixed, empty clusters come last in their place.
Changes keeping_fixed_k(const AllocModel& alloc, Changes changes, Index m = 1);

/// The state with its clusters changed, among them a pair joined, at optimal globals; entropy[i] is the exact
/// change of the entropy of batch i.
State with_joined(const Problem& problem, const State& state, const Changes& changes, const Vec& entropy);

/// Λ(T_a + T_b) − Λ(T_a) − Λ(T_b), K × K symmetric: for all pairs, or, when there are more than 2^7 clusters,
/// for each cluster and the 2^5 nearest to it (nearest_clusters), −∞ elsewhere (both numbers are guesses).
Vec evidence_of_merging(const ObsModel& obs, const Summary& total, Pool& pool);

/// Sorts clusters by decreasing size when that raises the ELBO (of an ordered allocation model), and removes
/// clusters without any mass if remove_empty and K is not fixed. Returns true when anything changed.
bool reorder(const Problem& problem, State& state, MoveMemory& memory, bool remove_empty);

}  // namespace bnpvi
