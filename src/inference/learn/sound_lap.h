// The last lap without numerical breakdown, to which a fit returns when its numbers break down.
#pragma once
#include <optional>

#include "inference/learn/state.h"

namespace bnpvi {

/// Keeps the globals and the ELBO at the end of the last lap (pass over all batches) without numerical
/// breakdown. Costs next to no memory: the statistics T are shared with the state, and summaries of batches
/// are not kept.
class SoundLap {
 public:
  /// How much the state's ELBO may be below the kept one because of rounding: 1e-8 of the sum of the absolute
  /// values of its terms. (In 320 fits with concentrations from 0.01 to 1e6 the worst fall was 2e-12 of that
  /// sum.) In models that remember units (RememberedUnits) a visit may end in a slightly lower local optimum,
  /// by 0.4 in the worst case seen, so that a fall by up to 1 is accepted there too.
  double slack(const Problem& problem, const State& state) const;

  void keep(const State& state) { kept_ = Kept{state.globals, state.elbo}, kept_->globals.weights = nullptr; }

  /// A state with the kept globals, total and ELBO, for reading only: batches are visited anew at these
  /// globals, and their summaries need not add up to the total.
  State restored(const Problem& problem, Pool& pool) const;

 private:
  struct Kept {
    Globals globals;
    double elbo;
  };
  std::optional<Kept> kept_;
};

}  // namespace bnpvi
