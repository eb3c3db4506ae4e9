// The learning algorithms that families share: coordinate ascent with moves, and stochastic ascent.
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

/// A fit of a family whose models are ObsModel and AllocModel.
class SharedFit : public Fit {
 public:
  /// The problem (data, models, seed), with the priors learned so far.
  virtual const Problem& problem() const = 0;
  const Progress& progress() const { return p_; }
  const State& state() const { return p_.state; }
  /// The allocation model with learned concentrations; null where it is the given model.
  const std::shared_ptr<const AllocModel>& learned_alloc() const { return alloc_; }

  double objective() const override { return p_.state.elbo; }
  double units() const override;
  void write(Writer& out) const override { p_.write(out); }

 protected:
  explicit SharedFit(Progress from) : p_(std::move(from)) {}

  Progress p_;
  std::shared_ptr<const AllocModel> alloc_;  // with learned concentrations; null: the given model
};

/// Memoized coordinate ascent with moves [Hughes 2016, Alg. 3.3, ch. 4]; with one batch, full-data ascent
/// [Alg. 3.1]. From the end of the first lap on the ELBO is that of all data and never falls. After go_back()
/// the state can be read, but laps cannot continue from it.
std::unique_ptr<SharedFit> memoized_fit(const Problem& problem, Progress from, const LearnOptions& options,
                                        Pool& pool);

/// Stochastic ascent [Alg. 3.2]. The last lap (number max_laps, or the one after a stop) is an exact visit of
/// all data at the final globals, so that the reported ELBO is the whole-data objective.
std::unique_ptr<SharedFit> stochastic_fit(const Problem& problem, Progress from, const LearnOptions& options,
                                          Pool& pool);

/// The progress of a fit that has not begun, at the given state.
Progress begin(const Problem& problem, State state);

}  // namespace bnpvi
