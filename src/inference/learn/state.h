// The state of a fit: global parameters and the sums of statistics they come from. A plain value, cheap to
// copy.
#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "inference/data/assignments.h"
#include "inference/learn/alloc_capabilities.h"
#include "inference/learn/observer.h"

namespace bnpvi {

class Workers;

/// A reference to the observation model of a problem. A fit that learns the model's prior replaces the model
/// by a copy with a better prior. All users of the problem then see the copy.
class ObsInUse {
 public:
  ObsInUse(const ObsModel& obs) : now_(&obs) {}
  operator const ObsModel&() const { return *now_; }
  const ObsModel* operator->() const { return now_; }

  void replace(std::shared_ptr<const ObsModel> obs) const {
    now_ = obs.get();
    held_.push_back(std::move(obs));
  }
  void go_back_to(const ObsInUse& earlier) const {
    now_ = earlier.now_;
    held_.insert(held_.end(), earlier.held_.begin(), earlier.held_.end());
  }
  /// Releases the models that replace() has replaced, to which there must be no references any more.
  void forget_earlier() const {
    held_.erase(
        std::remove_if(held_.begin(), held_.end(), [this](const auto& obs) { return obs.get() != now_; }),
        held_.end());
  }

 private:
  mutable const ObsModel* now_;
  mutable std::vector<std::shared_ptr<const ObsModel>> held_;  // replaced models that may still be in use
};

/// The parts of a fit that stay the same, except for priors that it learns: the data, the observation model,
/// the allocation model (prior of the assignments to clusters) and the seed.
struct Problem {
  const Source& source;
  ObsInUse obs;
  const AllocModel& alloc;
  unsigned long long seed = 0;
  Observer& observer = nobody;
  Pool* pool = nullptr;  // for loops over clusters; null: they run on the calling thread alone
  Index wave = 1;        // number of batches of a lap that are visited before the globals are renewed
  /// Processes that do the work on batches (batch_work.h); null: this process does it itself.
  Workers* workers = nullptr;
};

/// The state of a fit: the summary (sums of sufficient statistics) of all data, the summaries of the batches,
/// which add up to it, and the globals that are optimal for it. Copies of a state share the summaries of a
/// batch until it is visited again. The ELBO is up to date after each pass over all batches, and within
/// moves.
///
/// A plain value: a move that is accepted assigns its proposal to the state; a move that is rejected leaves
/// the state alone.
struct State {
  Summary total;
  std::vector<std::shared_ptr<const Summary>> batch;  // the summary of each batch; null until first visited
  /// What an earlier fit stored of the units of each batch (UnitMemory), for the first visit of the batch; or
  /// empty.
  std::vector<std::shared_ptr<const UnitMemory>> earlier;
  Globals globals;
  double elbo = 0;
  std::optional<Assignments> assignments;  // all responsibilities, if the observer requires them

  Index k() const { return total.k; }
};

/// The summary of the data of an earlier fit, which this fit updates; null if there is none. It belongs to a
/// batch without units whose q(z) is final (Summary::settled). So the objective is that of all data.
const Summary* settled_part(const State& state);

/// True when cluster j has mass in the data of an earlier fit (settled_part()), so that it cannot be removed.
bool has_settled(const State& state, Index j);

/// True if these clusters may be joined. At most one may have a prior of its own (a name). At most one may
/// have mass in the data of an earlier fit (settled_part()): these are no longer available, so the joint
/// entropy of two such clusters is unknown.
bool may_join(const State& state, const std::vector<Index>& clusters);
bool may_join(const State& state, Index a, Index b);

/// The sum of log h(x) over the rows of a batch. h is the base measure, the factor of the likelihood without
/// parameters. The sum never changes. It is computed once for each batch and stored in Summary::log_base,
/// which is 0 in summaries of parts of a batch and in those that an update of q(z) returns.
double batch_log_base(const Problem& problem, const Batch& batch);

/// The terms of the ELBO for a summary (sums of statistics) and any global parameters: "data", the terms of
/// the allocation model and, if a prior is learned, "hyperprior".
Terms elbo_terms(const Problem& problem, const Summary& total, const Globals& globals);
double sum_terms(const Terms& terms);

/// Sets the global parameters to their optimum for the statistics in state.total, and computes the ELBO
/// there.
void refresh(const Problem& problem, State& state);

/// The two halves of refresh(). renew_globals() sets the globals to their optimum and gives names (separate
/// priors) to the clusters that they suit best (rename.h). evaluate() computes the ELBO. Between two batches
/// only the globals are needed.
void renew_globals(const Problem& problem, State& state);
void evaluate(const Problem& problem, State& state);

/// Computes the ELBO like evaluate(). Also computes the weights of the clusters, by which a visit multiplies
/// features, and stores them in globals.weights. Together this is cheaper, as log evidences and weights share
/// most of their work. For use before a visit of a batch. globals.effective must equal state.total, as after
/// renew_globals().
void evaluate_and_weigh(const Problem& problem, State& state);

/// The weights of the clusters, by which a visit of a batch multiplies the features of its rows. effective:
/// the sums of statistics that determine the posterior of the clusters. evidence: receives the log evidence Λ
/// of each cluster, unless null.
std::shared_ptr<const Weights> visiting_weights(const Problem& problem, const Summary& effective,
                                                double* evidence = nullptr);

/// Renews the linear bounds (Tangents) in the summaries of all batches at the present globals. The globals
/// stay. The ELBO rises or stays.
void settle(const Problem& problem, State& state);

/// Recomputes `total` as the sum of the summaries of all batches. So rounding errors of many replaced
/// summaries do not add up. The names of clusters (separate priors) in `total` are kept.
void resum(const Problem& problem, State& state);

}  // namespace bnpvi
