// Priors of which features there are, and how often.
#pragma once
#include <memory>

#include "foundation/fields.h"
#include "foundation/named_array.h"

namespace bnpvi::features {

/// q(π) at its best for the counts N of the features in use, and what it adds to the ELBO.
struct FeatureWeights {
  double value = 0;
  Vec logit;  // E log π_k − E log(1 − π_k) of each feature
  Vec prob;   // E π_k
  Vec stick;  // Beta parameters (τ_1, τ_2) one pair after the other, of an infinite prior
  Vec alpha;  // mean, shape and rate of q(α), or the value alone
};

class FeaturePrior {
 public:
  virtual ~FeaturePrior() = default;
  /// `warm`: an earlier result for as many features, from which a search starts, or empty. Of n rows; counts
  /// within [0, n].
  virtual FeatureWeights fit(const Vec& counts, double n, const FeatureWeights& warm) const = 0;
  /// The value of fit() or less, in little time: at the sticks of `near`, an earlier result for as many
  /// features.
  virtual double at_least(const Vec& counts, double n, const FeatureWeights& near) const = 0;
  /// Most features there may be; 0: any number.
  virtual Index most() const = 0;
  /// True where the order of the features matters.
  virtual bool ordered() const = 0;
};

/// π_k ~ Beta(α/k, 1), k features in all of which those not in use count, too:
///   L_π = Σ_k [lB(α/k + N_k, 1 + n − N_k) − lB(α/k, 1)].
/// A learned α is the one best for the counts.
std::unique_ptr<FeaturePrior> make_beta_bernoulli(const Fields& fields);

/// The Indian buffet process: v_i ~ Beta(α, 1), π_k = Π_{i≤k} v_i, without end; L_π in indian_buffet.cpp.
std::unique_ptr<FeaturePrior> make_indian_buffet(const Fields& fields);

/// By fields `family` ("beta_bernoulli", "ibp"), `alpha` (a number, or shape and rate of its prior), `k`.
std::unique_ptr<FeaturePrior> make_feature_prior(const Fields& fields);

}  // namespace bnpvi::features
