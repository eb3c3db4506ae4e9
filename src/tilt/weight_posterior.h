// q(π) of tilted weights (tilt.h).
#pragma once
#include "foundation/rounded_sum.h"
#include "tilt/tilt.h"

namespace bnpvi {

/// q(π) with the parameters `values` of K clusters (Tilt: a_k and b_k of each, or θ_k, last that of the rest
/// if it has one), which do not have to be those that are best for the sizes N.
class WeightPosterior {
 public:
  WeightPosterior(const TiltPrior& prior, const Vec& values, const Vec& sizes);

  /// Σ_k N_k E log π_k − KL(q(π)), without the prior's normaliser where this has weights of its own.
  RoundedSum value() const;
  Vec expected_log() const;  // E log π_k, K
  Vec log_mean() const;      // log π̄_k, and of the rest, K + 1

 private:
  friend class WeightSteps;
  const TiltPrior& prior_;
  const Vec& values_;
  const Index k_;
  // Of each stick, or θ_k: what N and the prior say less the present values, by which KL is differentiated.
  Vec surplus_;
  double concentration_each_ = 0;  // γ/K
  double all_ = 0;                 // Σ θ
};

/// Their values at the maximum of value().
Vec untilted_weights(const TiltPrior& prior, const Vec& sizes);

/// Steps of q(π) in unconstrained numbers, about a standard deviation each: of a stick the logit of its mean
/// and the logarithm of a + b; of a Dirichlet the logarithms of θ.
class WeightSteps {
 public:
  WeightSteps(const TiltPrior& prior, const Vec& from);

  Vec moved(const double* step) const;
  /// Of value() − Σ_c n_c log Z̄_c in the steps; reached: Σ_c n_c ρ_ck, K + 1.
  void gradient(const WeightPosterior& at, const Vec& reached, double* out) const;

 private:
  const TiltPrior& prior_;
  Vec from_, scale_;
};

}  // namespace bnpvi
