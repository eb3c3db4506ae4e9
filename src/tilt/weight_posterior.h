// q(π), the posterior of the common weights that tilts multiply (tilt.h).
#pragma once
#include "foundation/rounded_sum.h"
#include "tilt/tilt.h"

namespace bnpvi {

/// q(π) for K clusters of sizes N. `values` holds its parameters (Tilt): a_k and b_k, or θ_k, of each
/// cluster; and last that of the rest, if it has one. They need not be optimal for these sizes.
class WeightPosterior {
 public:
  WeightPosterior(const TiltPrior& prior, const Vec& values, const Vec& sizes);

  /// Σ_k N_k E log π_k − KL(q(π)); if the prior has `weights`, without its normaliser.
  RoundedSum value() const;
  Vec expected_log() const;  // E log π_k, K numbers
  Vec log_mean() const;      // log π̄_k, the log means; last that of the rest: K + 1 numbers

 private:
  friend class WeightSteps;
  const TiltPrior& prior_;
  const Vec& values_;
  const Index k_;
  // For each parameter of a stick, or each θ_k: its optimal value given N and the prior, less the present
  // value. The derivatives of value() are formed from these.
  Vec surplus_;
  double concentration_each_ = 0;  // γ/K, the prior's parameter for each cluster
  double all_ = 0;                 // Σ θ, the sum of the parameters
};

/// The parameters that maximise WeightPosterior::value() for these sizes of the clusters.
Vec untilted_weights(const TiltPrior& prior, const Vec& sizes);

/// Unconstrained coordinates of q(π), in steps of about one standard deviation: for a stick the logit of its
/// mean and the logarithm of a + b; for a Dirichlet the logarithms of θ.
class WeightSteps {
 public:
  WeightSteps(const TiltPrior& prior, const Vec& from);

  Vec moved(const double* step) const;
  /// Gradient of value() − Σ_c n_c log Z̄_c in these coordinates, with Z̄_c the bracket in the bound of Tilt.
  /// reached: Σ_c n_c ρ_ck, the sizes expected from the patterns, K + 1 numbers.
  void gradient(const WeightPosterior& at, const Vec& reached, double* out) const;

 private:
  const TiltPrior& prior_;
  Vec from_, scale_;
};

}  // namespace bnpvi
