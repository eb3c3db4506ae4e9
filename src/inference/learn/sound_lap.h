// Keeps the state after the last lap (pass over all batches) without numerical breakdown; if a later lap
// breaks down, the fit returns to that state.
#pragma once
#include <optional>

#include "inference/learn/state.h"

namespace bnpvi {

/// Keeps the globals (posterior of the parameters) and the ELBO of the last lap without numerical breakdown.
/// This needs hardly any memory: the statistics T are shared with the state, and the summaries of batches are
/// not kept.
class SoundLap {
 public:
  /// By how much the ELBO may be below the kept one without counting as a breakdown: 1e-8 times the sum of
  /// the absolute values of its terms, for rounding. (In 320 fits with concentrations from 0.01 to 1e6 the
  /// worst fall was 2e-12 of that sum.) In models with the capability RememberedUnits 1 is added. There a
  /// visit may end in a slightly worse local optimum; the worst fall seen was 0.4.
  double slack(const Problem& problem, const State& state) const;

  void keep(const State& state) { kept_ = Kept{state.globals, state.elbo}, kept_->globals.weights = nullptr; }

  /// True if the state's ELBO is below the kept one by more than slack(); false if none is kept.
  bool is_above(const Problem& problem, const State& state) const;

  /// The kept global parameters, without weights.
  const Globals& globals() const { return kept_->globals; }

  /// A state with the kept globals, statistics and ELBO, for reading only. q(z) of the batches is recomputed
  /// at these globals, so the statistics of the batches need not add up to the kept total.
  State restored(const Problem& problem, Pool& pool) const;

 private:
  struct Kept {
    Globals globals;
    double elbo;
  };
  std::optional<Kept> kept_;
};

}  // namespace bnpvi
