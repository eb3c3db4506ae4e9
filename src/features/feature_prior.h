// Priors of the number of latent features and of their frequencies.
#pragma once
#include <memory>

#include "foundation/fields.h"
#include "foundation/named_array.h"

namespace bnpvi::features {

/// The optimal posterior q(π) of the features' frequencies, given in how many rows each feature is expected,
/// and its contribution to the ELBO.
struct FeatureWeights {
  double value = 0;
  Vec logit;  // log odds of each feature, E log π_k − E log(1 − π_k)
  Vec prob;   // expected frequency E π_k of each feature
  Vec stick;  // Beta parameters (τ_1, τ_2) of q of the sticks, one pair after the other; infinite prior only
  Vec alpha;  // mean, shape and rate of q(α); if α is known, its value alone
};

class FeaturePrior {
 public:
  virtual ~FeaturePrior() = default;
  /// Finds the optimal q(π), given counts, the expected number of the n rows that have each feature (each
  /// within [0, n]). warm: an earlier result for the same number of features, from which the search starts,
  /// or empty.
  virtual FeatureWeights fit(const Vec& counts, double n, const FeatureWeights& warm) const = 0;
  /// A lower bound of the value that fit() finds, which is quickly computed: the value at the posterior of
  /// the stick-breaking fractions in `near`, an earlier result for the same number of features.
  virtual double at_least(const Vec& counts, double n, const FeatureWeights& near) const = 0;
  /// Largest number of features; 0: any number.
  virtual Index most() const = 0;
  /// True if the order of the features matters.
  virtual bool ordered() const = 0;
};

/// Makes the prior π_k ~ Beta(α/k, 1) for k features in all, including those not in use. If n rows have N_k
/// times feature k, its contribution to the ELBO is
///   L_π = Σ_k [lB(α/k + N_k, 1 + n − N_k) − lB(α/k, 1)],  lB = log Beta function.
/// A learned α maximises L_π plus the log density of its prior.
std::unique_ptr<FeaturePrior> make_beta_bernoulli(const Fields& fields);

/// Makes the Indian buffet process, a prior with infinitely many features: v_i ~ Beta(α, 1), π_k = Π_{i≤k}
/// v_i. Its contribution to the ELBO is derived in indian_buffet.cpp.
std::unique_ptr<FeaturePrior> make_indian_buffet(const Fields& fields);

/// Makes the prior from fields `family` ("beta_bernoulli", "ibp"), `alpha` (a number, or shape and rate of
/// its prior) and `k`.
std::unique_ptr<FeaturePrior> make_feature_prior(const Fields& fields);

}  // namespace bnpvi::features
