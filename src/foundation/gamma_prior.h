// The Gamma distribution, as prior of a concentration.
#pragma once
#include "foundation/special.h"

namespace bnpvi {

/// Gamma(shape, rate), of mean shape / rate.
struct GammaPrior {
  double shape, rate;

  double mean() const { return shape / rate; }
  /// Its log density at x > 0.
  double log_density(double x) const {
    return shape * std::log(rate) - log_gamma(shape) + (shape - 1) * std::log(x) - rate * x;
  }
};

}  // namespace bnpvi
