// The learning algorithms that families of models share: coordinate ascent with moves, and stochastic ascent.
#pragma once
#include "inference/learn/restarts.h"
#include "inference/learn/progress.h"
#include "inference/moves/move_options.h"

namespace bnpvi {

struct LearnOptions : RestartOptions {
  MoveOptions moves;
  bool learn_prior = true;        // if the model can (LearnedPrior, LearnedConcentrations)
  double delay = 1, power = 0.6;  // stochastic learning rate (delay + t)^−power
};

/// A running fit of a family whose models consist of an observation model (ObsModel) and an allocation model
/// (AllocModel, the prior of the assignments z).
class SharedFit : public Fit {
 public:
  /// The problem that is fitted (data, models, seed); its models have the priors learned so far.
  virtual const Problem& problem() const = 0;
  const Progress& progress() const { return p_; }
  const State& state() const { return p_.state; }
  /// The allocation model with the concentrations that the fit has learned; null if it has learned none.
  const std::shared_ptr<const AllocModel>& learned_alloc() const { return alloc_; }

  double objective() const override { return p_.state.elbo; }
  double units() const override;
  void write(Writer& out) const override { p_.write(out); }

 protected:
  explicit SharedFit(Progress from) : p_(std::move(from)) {}

  Progress p_;
  std::shared_ptr<const AllocModel> alloc_;  // with learned concentrations; null: the given model
};

/// Makes a fit by memoized coordinate ascent with moves [Hughes 2016, Alg. 3.3, ch. 4]. If the data are one
/// batch, this is full-data ascent [Alg. 3.1]. From the end of the first lap on, the ELBO is that of all data
/// and never falls. After go_back() the state can be read, but laps cannot continue from it.
std::unique_ptr<SharedFit> memoized_fit(const Problem& problem, Progress from, const LearnOptions& options,
                                        Pool& pool);

/// Makes a fit by stochastic ascent [Alg. 3.2]. The last lap visits all data at the final parameters, so the
/// reported ELBO is that of all data. It is lap max_laps, or the lap after a stop.
std::unique_ptr<SharedFit> stochastic_fit(const Problem& problem, Progress from, const LearnOptions& options,
                                          Pool& pool);

/// Returns the progress of a fit that has not done any lap (pass over the data) yet and is in the given
/// state.
Progress begin(const Problem& problem, State state);

}  // namespace bnpvi
