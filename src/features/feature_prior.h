// Priors of the number of latent features and of their frequencies.
#pragma once
#include <memory>

#include "foundation/fields.h"
#include "foundation/named_array.h"

namespace bnpvi::features {

/// The optimal posterior q(π) of the features' frequencies π, given the expected number of rows with each
/// feature. value: its contribution to the ELBO.
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
  /// Finds the optimal q(π). counts: for each feature, the expected number of the n rows that have it, within
  /// [0, n]. warm: an earlier result for the same number of features, where the search starts; or empty.
  virtual FeatureWeights fit(const Vec& counts, double n, const FeatureWeights& warm) const = 0;
  /// A lower bound of the value that fit() finds, which is quick to compute. It is the value with the
  /// posterior of the sticks in `near`, an earlier result for the same number of features.
  virtual double at_least(const Vec& counts, double n, const FeatureWeights& near) const = 0;
  /// Largest number of features; 0: any number.
  virtual Index most() const = 0;
  /// True if the order of the features matters.
  virtual bool ordered() const = 0;
};

/// Makes the prior π_k ~ Beta(α/k, 1), where k is the number of features, including those not in use. If N_k
/// of the n rows have feature k, its contribution to the ELBO is
///   L_π = Σ_k [lB(α/k + N_k, 1 + n − N_k) − lB(α/k, 1)],  lB = log Beta function.
/// If α is learned, it maximises L_π plus the log density of its prior.
std::unique_ptr<FeaturePrior> make_beta_bernoulli(const Fields& fields);

/// Makes the Indian buffet process, a prior with infinitely many features: v_i ~ Beta(α, 1), π_k = Π_{i≤k}
/// v_i. Its contribution to the ELBO is derived in indian_buffet.cpp.
std::unique_ptr<FeaturePrior> make_indian_buffet(const Fields& fields);

/// Makes the prior from fields `family` ("beta_bernoulli", "ibp"), `alpha` (a number, or shape and rate of
/// its prior) and `k`.
std::unique_ptr<FeaturePrior> make_feature_prior(const Fields& fields);

}  // namespace bnpvi::features
