// q(π), the posterior of the common cluster weights π. In models with covariates, these weights are
// multiplied by exponential factors (tilt.h).
#pragma once
#include "foundation/rounded_sum.h"
#include "tilt/tilt.h"

namespace bnpvi {

/// The posterior q(π) of the common weights of K clusters of sizes N. `values` holds its parameters (see
/// Tilt): a_k and b_k, or θ_k, of each cluster; and last the parameter of the rest, if it has one. They need
/// not be optimal for these sizes.
class WeightPosterior {
 public:
  WeightPosterior(const TiltPrior& prior, const Vec& values, const Vec& sizes);

  /// The part of the bound that depends on q(π): Σ_k N_k E log π_k − KL(q(π)). If the prior has `weights`,
  /// the normaliser of the prior is left out.
  RoundedSum value() const;
  Vec expected_log() const;  // E log π_k, K numbers
  Vec log_mean() const;      // log π̄_k, the log means; last that of the rest: K + 1 numbers

 private:
  friend class WeightSteps;
  const TiltPrior& prior_;
  const Vec& values_;
  const Index k_;
  // For each parameter (a_k, b_k or θ_k): its optimal value given the sizes N and the prior, minus its
  // present value. The derivatives of value() are formed from these differences.
  Vec surplus_;
  double concentration_each_ = 0;  // γ/K, the prior's parameter for each cluster
  double all_ = 0;                 // Σ θ, the sum of the parameters
};

/// The parameters of q(π) that maximise WeightPosterior::value() for these sizes of the clusters; they are
/// optimal if there are no covariates.
Vec untilted_weights(const TiltPrior& prior, const Vec& sizes);

/// Unconstrained coordinates of q(π) for an optimiser, in steps of about one standard deviation: for a stick
/// Beta(a, b) the logit of its mean and the logarithm of a + b; for a Dirichlet the logarithms of its
/// parameters θ.
class WeightSteps {
 public:
  WeightSteps(const TiltPrior& prior, const Vec& from);

  Vec moved(const double* step) const;
  /// Gradient in these coordinates of value() − Σ_c n_c log Z̄_c, where n_c is the number of rows with
  /// covariate pattern c, and Z̄_c the bracket in the bound L (see Tilt). reached: Σ_c n_c ρ_ck, the sizes
  /// expected from the covariate patterns, K + 1 numbers.
  void gradient(const WeightPosterior& at, const Vec& reached, double* out) const;

 private:
  const TiltPrior& prior_;
  Vec from_, scale_;
};

}  // namespace bnpvi
