// Where a fit goes back to when its numbers break down.
#pragma once
#include <optional>

#include "inference/state.h"

namespace bnpvi {

/// The last lap at whose end the ELBO was finite and had not fallen. It keeps globals and ELBO, which share
/// the large table with the state they are of, and no summary of a batch: nothing is copied but u, ω and what
/// the allocation model has for each cluster.
class SoundLap {
 public:
  /// True when the state's ELBO is not finite, or below the one kept by more than rounding explains: 1e-8 of
  /// the sum of its terms' absolute values. (Of 320 fits under concentrations from 0.01 to 1e6 the worst fell
  /// by 2e-12 of it.) Units that go on from what is remembered of them may end in a lower optimum than
  /// before, by up to 0.4 where that was seen; in models that remember a fall by 1 is no breakdown.
  bool excludes(const Problem& problem, const State& state) const;

  void keep(const State& state) { kept_ = Kept{state.globals, state.elbo}, kept_->globals.weights = nullptr; }
  bool any() const { return kept_.has_value(); }

  /// The state at the kept globals: total and ELBO are the kept ones; batches are visited anew, and may not
  /// add up to the total, so that nothing can be learned from there.
  State restored(const Problem& problem, Pool& pool) const;

 private:
  struct Kept {
    Globals globals;
    double elbo;
  };
  std::optional<Kept> kept_;
};

}  // namespace bnpvi
