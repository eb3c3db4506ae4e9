// The state of a fit: a plain value, cheap to copy.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "inference/alloc_model.h"
#include "inference/assignments.h"
#include "inference/observer.h"

namespace bnpvi {

/// An immutable pair of models with the data that they are fitted to.
struct Problem {
  const Source& source;
  const ObsModel& obs;
  const AllocModel& alloc;
  unsigned long long seed = 0;
  Observer& observer = nobody;
  Pool* pool = nullptr;  // for work on clusters one by one; null: the calling thread alone
};

/// Whole-data summary, the memoized summaries it is the sum of (shared between copies until a batch
/// is visited again), and the globals that are optimal for it. The ELBO is
/// up to date at the end of a lap and within moves.
///
/// A move is a function State → optional<State>: accepting is assignment, rejecting is nothing.
struct State {
  Summary total;
  std::vector<std::shared_ptr<const Summary>> batch;       // null until first visited
  std::vector<std::shared_ptr<const UnitMemory>> earlier;  // where first visits start, by batch; none: empty
  Globals globals;
  double elbo = 0;
  std::optional<Assignments> assignments;  // only when the observer wants them

  Index k() const { return total.k; }
};

/// Summary::log_base of a batch. Local steps, and summaries of some units of a batch, say 0 instead: the base
/// measure is known once and for all, and a move that takes units out of a batch and brings them back leaves
/// it alone.
double batch_log_base(const Problem& problem, const Batch& batch);

/// Terms of the ELBO ("data", then the allocation model's): exact for any summary and any globals.
Terms elbo_terms(const Problem& problem, const Summary& total, const Globals& globals);
double sum_terms(const Terms& terms);

/// Globals and ELBO made optimal for state.total.
void refresh(const Problem& problem, State& state);

/// The two halves of it: between the batches of a lap nobody asks for the ELBO.
void renew_globals(const Problem& problem, State& state);
void evaluate(const Problem& problem, State& state);

/// evaluate() where the globals' statistic is state.total, as after renew_globals(), and a visit of a batch
/// is next: it leaves the weights that the visit needs, which have most work in common with the ELBO.
void evaluate_and_weigh(const Problem& problem, State& state);

/// AllocModel::visit_weights for this problem.
std::shared_ptr<const Weights> visiting_weights(const Problem& problem, const Summary& effective,
                                                double* evidence = nullptr);

/// The batches' summaries brought up to date with the present globals (AllocModel::settle), which stay as
/// they are; the ELBO rises or stays.
void settle(const Problem& problem, State& state);

/// total ← Σ_b batch[b], so that the differences of many updates cannot drift.
void resum(const Problem& problem, State& state);

}  // namespace bnpvi
