// The interface of a move (a proposal to change the clusters), and functions that moves of all families
// share.
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

/// What a move (a proposal to change the clusters) needs in addition to the state of the fit.
struct MoveContext {
  const Problem& problem;
  const MoveOptions& options;
  MoveMemory& memory;
  Visitor& visitor;  // makes the visits of this lap
  Pool& pool;
  Index lap;

  /// The ELBO that a proposal must exceed to be accepted: the ELBO of the present state plus a margin for
  /// rounding.
  double to_beat(const State& state) const;
};

/// The proposals of one kind during one lap (a pass over all batches). A proposal is a new State, which
/// replaces the present one only if its ELBO is larger; otherwise the present state stays untouched.
class Move {
 public:
  virtual ~Move() = default;

  /// Chooses the proposals for the lap (pass over all batches) that follows; false when there are none.
  virtual bool prepare(const State& state) = 0;
  /// Called before batch b is visited. Returns an object that receives the responsibilities of the visit, or
  /// null if the move does not need them.
  virtual std::unique_ptr<Watch> watch(const State& /*state*/, Index /*b*/) { return nullptr; }
  /// Called after batch b was visited. seen: the object that watch() returned for the batch.
  virtual void after_batch(Index /*b*/, Watch* /*seen*/) {}
  /// Called when all batches have been visited and the ELBO is up to date; may replace the state.
  virtual void after_lap(State&) {}

  Index tried() const { return tried_; }
  Index accepted() const { return accepted_; }

 protected:
  Index tried_ = 0, accepted_ = 0;
};

/// A kind of move that an allocation model (prior of the assignments to clusters) offers to a fit.
struct MoveKind {
  enum class Turn {
    birth,   // a kind that adds clusters
    merge,   // a kind that joins pairs of clusters
    remove,  // a kind that deletes clusters
    idle,    // used in laps in which no other kind has a proposal
    settled  // as idle, but waits while laps still gain a little; a fit with such a kind takes LongSteps
  };
  Turn turn;
  bool keeps_k;  // the number of clusters stays the same, so that finite models can use it too
  std::function<std::unique_ptr<Move>(const MoveContext&)> make;
};

/// Makes a MoveKind whose moves are constructed by make(context, model). The model must outlive the moves.
template <class Model>
MoveKind move_kind(MoveKind::Turn turn, bool keeps_k, const Model& model,
                   std::unique_ptr<Move> (*make)(const MoveContext&, const Model&)) {
  return {turn, keeps_k, [&model, make](const MoveContext& context) { return make(context, model); }};
}

/// An upper limit of the difference that rounding may cause between two ELBOs of about this value.
double rounding_of(double elbo);

/// The observation model with its prior learned from the clusters of a proposal, if this prior raises the
/// ELBO of the proposal above `present`; else null. Also null if no hyperparameters have posteriors. Learning
/// costs some ten factorisations for each cluster. So with many clusters it is tried only if the ELBO of the
/// proposal is close to `present`.
std::shared_ptr<const ObsModel> lifting_prior(const Problem& problem, const State& proposal, double present,
                                              Pool& pool);

/// If hyperparameters have posteriors: learns the prior from the clusters of a state, and uses it if that
/// raises the ELBO of the state.
void let_prior_follow(const Problem& problem, State& state, Pool& pool);

/// True if the ELBO of a proposal is above `present`, either at once or after the prior was learned from the
/// proposal's clusters. In the second case the problem keeps the learned prior, and proposal.elbo becomes the
/// ELBO under it.
bool lifts(const Problem& problem, State& proposal, double present, Pool& pool);

/// A copy of the problem with another observation model, which may differ from the old one in its prior only.
Problem with_prior(const Problem& problem, const ObsModel& obs);

/// Applies op to state.total, to the summary (sums of statistics) of each batch, on the threads of
/// problem.pool, and to state.assignments, if any. op: a function of a Summary& or an Assignments&.
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

/// Identities of at most max_births clusters from which to try births (proposals of new clusters). MoveMemory
/// considers all of them worth trying. Those with fewest failures come first, and among these the largest.
/// at_least: number of failures that are allowed even if a try is expensive.
std::vector<std::uint64_t> birth_targets(const MoveContext& context, const State& state, int at_least = 0);

/// A copy of the summary with only what the terms of the allocation model need. Of the statistic T_k of a
/// cluster it keeps the count N_k and the counts by covariate pattern (a distinct row of covariates), which
/// are the last `patterns` numbers of T_k.
Summary allocation_part(const Summary& s, Index patterns = 0);

/// Completes changes that remove m clusters: appends m empty clusters if the number of clusters is fixed.
Changes keeping_fixed_k(const AllocModel& alloc, Changes changes, Index m = 1);

/// The state after changes that join a pair of clusters, with optimal global parameters. entropy[i]: the
/// exact change of the entropy of q(z) in batch i.
State with_joined(const Problem& problem, const State& state, const Changes& changes, const Vec& entropy);

/// For each pair of clusters a, b the gain of log evidence if they are joined, K × K, symmetric:
///   Λ(T_a + T_b) − Λ(T_a) − Λ(T_b), with statistics T.
/// With at most 2^7 clusters it is computed for all pairs that may be joined. With more, only for each
/// cluster and the 2^5 clusters nearest to it (nearest_clusters). Elsewhere it is −∞. Both numbers are
/// guesses.
Vec evidence_of_merging(const ObsModel& obs, const Summary& total, Pool& pool);

/// Sorts the clusters by decreasing size if that raises the ELBO; only in allocation models in which the
/// order matters. remove_empty: also removes clusters without mass, unless the number of clusters is fixed.
/// Returns true if anything changed.
bool reorder(const Problem& problem, State& state, MoveMemory& memory, bool remove_empty);

}  // namespace bnpvi
