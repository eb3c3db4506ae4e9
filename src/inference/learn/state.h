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

/// A reference to the observation model of a problem. Where the model's prior is learned, a fit replaces the
/// model by a copy with a better prior; everything that uses this problem then sees the new one.
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

/// The state of a fit: the summary (sums of sufficient statistics) of the whole data, the summaries of the
/// batches, which add up to it, and the globals (global parameters) that are optimal for it. Copies of a
/// state share the summaries of batches until a batch is visited again. The ELBO is up to date after each
/// pass over all batches, and within moves.
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

/// The summary that stands for the data of an earlier fit, which this fit updates; null in fits that do not
/// update one. It belongs to a batch without units whose q(z) is final (Summary::settled), so that the
/// objective is that of all data.
const Summary* settled_part(const State& state);

/// True when cluster j has mass in the data of an earlier fit (settled_part()), so that it cannot be removed.
bool has_settled(const State& state, Index j);

/// True when these clusters may be joined: at most one of them has a prior of its own (a name), and at most
/// one has mass in the data of an earlier fit (settled_part()), which are no longer available, so that their
/// joint entropy is unknown.
bool may_join(const State& state, const std::vector<Index>& clusters);
bool may_join(const State& state, Index a, Index b);

/// The sum of log h(x) over the rows of a batch, h being the base measure (the factor of the likelihood
/// without parameters). It never changes: it is computed once for each batch and stored in Summary::log_base.
/// Summaries of parts of a batch, and those that an update of q(z) returns, have 0 there instead.
double batch_log_base(const Problem& problem, const Batch& batch);

/// The terms of the ELBO for a summary (sums of statistics) and any global parameters: "data", the terms of
/// the allocation model and, if a prior is learned, "hyperprior".
Terms elbo_terms(const Problem& problem, const Summary& total, const Globals& globals);
double sum_terms(const Terms& terms);

/// Sets the global parameters to their optimum for the statistics in state.total, and computes the ELBO
/// there.
void refresh(const Problem& problem, State& state);

/// The two halves of refresh(): renew_globals() sets the global parameters to their optimum and gives names
/// to the clusters that they suit best (rename.h); evaluate() computes the ELBO. Between two batches only the
/// parameters are needed.
void renew_globals(const Problem& problem, State& state);
void evaluate(const Problem& problem, State& state);

/// Computes the ELBO like evaluate(), and also the weights of the clusters (by which a visit multiplies
/// features), which it leaves in globals.weights: log evidences and weights have most of their work in
/// common. For use when a visit of a batch follows. globals.effective must equal state.total, as after
/// renew_globals().
void evaluate_and_weigh(const Problem& problem, State& state);

/// The weights of the clusters, by which a visit of a batch multiplies the features of its rows, given the
/// statistics `effective`: visit_weights() (alloc_capabilities.h) for the models of this problem. evidence:
/// receives the log evidence Λ of each cluster, unless null.
std::shared_ptr<const Weights> visiting_weights(const Problem& problem, const Summary& effective,
                                                double* evidence = nullptr);

/// Computes the linear bounds that the summaries of all batches contain (Tangents) again, at the present
/// global parameters, which do not change. The ELBO rises or stays.
void settle(const Problem& problem, State& state);

/// Computes total again as the sum of the summaries of all batches, so that the rounding errors of many
/// exchanges of batches do not add up. The names of clusters (priors of their own) in `total` are kept.
void resum(const Problem& problem, State& state);

}  // namespace bnpvi
