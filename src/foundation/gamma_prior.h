// The Gamma distribution as the prior of a concentration.
#pragma once
#include "foundation/special.h"

namespace bnpvi {

/// The Gamma distribution with this shape and rate, whose mean is shape / rate.
struct GammaPrior {
  double shape, rate;

  double mean() const { return shape / rate; }
  /// The log density of the Gamma distribution at x > 0.
  double log_density(double x) const {
    return shape * std::log(rate) - log_gamma(shape) + (shape - 1) * std::log(x) - rate * x;
  }
};

}  // namespace bnpvi
