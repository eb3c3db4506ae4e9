// The state of a fit: a plain value, cheap to copy.
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

/// The observation model of a problem. Where its prior is learned, a fit replaces the model by the same model
/// with a better prior, which takes effect everywhere this problem is used.
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
  /// Releases models that were replaced. There must be no references to them.
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
/// the allocation model and the seed.
struct Problem {
  const Source& source;
  ObsInUse obs;
  const AllocModel& alloc;
  unsigned long long seed = 0;
  Observer& observer = nobody;
  Pool* pool = nullptr;  // for loops over clusters; null: they run on the calling thread alone
  Index wave = 1;        // number of batches of a lap that are visited before the globals are renewed
  /// Processes that do the work on batches (batch_work.h); null: this process does it.
  Workers* workers = nullptr;
};

/// The state of a fit: the whole-data summary, the batch summaries whose sum it is (copies of a state share
/// them until a batch is visited again), and the globals that are optimal for it. The ELBO is up to date at
/// the end of a lap and within moves.
///
/// A plain value: a move that is accepted assigns its proposal to the state; a move that is rejected leaves
/// the state alone.
struct State {
  Summary total;
  std::vector<std::shared_ptr<const Summary>> batch;  // the summary of each batch; null until first visited
  /// For first visits: what an earlier fit stored of the units of each batch (UnitMemory); or empty.
  std::vector<std::shared_ptr<const UnitMemory>> earlier;
  Globals globals;
  double elbo = 0;
  std::optional<Assignments> assignments;  // all responsibilities, if the observer requires them

  Index k() const { return total.k; }
};

/// In a fit that updates an earlier one: the summary that stands for the data of the earlier fit, a batch
/// without units whose q(z) is final (Summary::settled), so that the objective is that of all data. Null in
/// other fits.
const Summary* settled_part(const State& state);

/// True when cluster j has mass in settled_part(), so that it cannot be removed.
bool has_settled(const State& state, Index j);

/// True when these clusters may be joined: at most one of them has mass in settled_part(), as the joint
/// entropy of data that are no longer available is unknown, and at most one has a name.
bool may_join(const State& state, const std::vector<Index>& clusters);
bool may_join(const State& state, Index a, Index b);

/// Σ log h(x) of the rows of a batch, h being the base measure; stored in Summary::log_base. It never
/// changes, and is computed once for each batch; summaries that local steps return, and those of some units
/// of a batch, have 0 instead.
double batch_log_base(const Problem& problem, const Batch& batch);

/// Terms of the ELBO ("data", those of the allocation model and, if a prior is learned, "hyperprior"), for
/// any summary and any globals.
Terms elbo_terms(const Problem& problem, const Summary& total, const Globals& globals);
double sum_terms(const Terms& terms);

/// Makes globals and ELBO optimal for state.total.
void refresh(const Problem& problem, State& state);

/// The two halves of refresh(): renew_globals() makes the globals optimal, evaluate() computes the ELBO at
/// them. Between the batches of a lap only the globals are needed. renew_globals() also gives names to the
/// clusters that they suit best (rename.h).
void renew_globals(const Problem& problem, State& state);
void evaluate(const Problem& problem, State& state);

/// Like evaluate(), for use when a visit of a batch follows; also leaves the weights for that visit in
/// globals.weights, since evidence and weights share most of their work. globals.effective must equal
/// state.total, as after renew_globals().
void evaluate_and_weigh(const Problem& problem, State& state);

/// The weights of the clusters by which a visit multiplies features, given the summary `effective`:
/// visit_weights() (alloc_capabilities.h) for the models of this problem. evidence: receives Λ of each
/// cluster, unless null.
std::shared_ptr<const Weights> visiting_weights(const Problem& problem, const Summary& effective,
                                                double* evidence = nullptr);

/// Renews the linear bounds in the summaries of all batches (Tangents) at the present globals, which stay as
/// they are; the ELBO rises or stays.
void settle(const Problem& problem, State& state);

/// total ← Σ_b batch[b], keeping its names, so that rounding errors of many exchanges do not add up.
void resum(const Problem& problem, State& state);

}  // namespace bnpvi
