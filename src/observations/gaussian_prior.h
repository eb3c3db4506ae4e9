// The prior of Gaussian clusters in the user's units, and the model's hold on it.
#pragma once
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "foundation/fields.h"
#include "observations/capabilities.h"
#include "observations/gaussian_hyperprior.h"

namespace bnpvi {

/// Normal–Wishart: precision Λ ~ W(df, scale⁻¹), mean μ | Λ ~ N(mean, (mean_strength Λ)⁻¹); `mean` is empty
/// where the mean is known to be zero. Full covariance: scale is D × D. Diagonal: scale is D, and each
/// coordinate has its own one-dimensional Wishart, i.e. precision ~ Gamma(df/2, rate = scale/2).
///
/// A prior that is to be learned has the squared spread of the columns of the data, and their location unless
/// the mean is known (GaussianHyperprior); both are empty when the prior is given.
struct GaussianPrior {
  Vec mean;
  double mean_strength;
  double df;
  Vec scale;
  Vec centre, unit;
  Vec data_location, data_variance;
  bool gaps = false;  // cells may be missing
};

/// Columns of Gaussian rows: as many as units.
inline Index columns_of(const Fields& fields) { return static_cast<Index>(fields.numbers("unit").size()); }

/// size: numbers of `scale`; has_mean: it is not known to be zero. To be learned where the fields are there
/// that say about what.
GaussianPrior gaussian_prior(const Fields& fields, Index size, bool has_mean);

/// A model's own prior: in engine units, and what the model needs to learn it.
class OwnGaussianPrior {
 public:
  /// d: columns of a block (NormalWishart).
  OwnGaussianPrior(GaussianPrior given, Index d);

  const NormalWishart& in_engine_units() const { return engine_; }

  bool is_learned() const { return hyperprior_.has_value(); }

  /// What LearnedPrior says of a prior that is learned.
  double log_hyperprior() const { return hyperprior_->log_density(engine_); }
  NamedArrays learned_fields() const;

  /// LearnedPrior::learned for a Model that is made from a GaussianPrior and has expected_cluster(t);
  /// nullptr, too, where a matrix on the way is singular in double precision.
  template <class Model>
  std::shared_ptr<const ObsModel> learned(const Model& from, const double* t, Index k, Pool* pool) const {
    const Index occupied = occupied_clusters(t, k, from.n_features());
    if (occupied < GaussianHyperprior::fewest_clusters) return nullptr;
    const auto expect = [&](const NormalWishart& prior) {
      const Model model(in_user_units(prior));
      return sum_over_clusters(t, k, from.n_features(), pool,
                               [&](const double* tk) { return model.expected_cluster(tk); });
    };
    try {
      return std::make_shared<Model>(in_user_units(hyperprior_->learned(engine_, occupied, expect)));
    } catch (const std::domain_error&) {
      return nullptr;
    }
  }

 private:
  GaussianPrior in_user_units(const NormalWishart& prior) const;

  GaussianPrior given_;
  Index d_;
  NormalWishart engine_;
  std::optional<GaussianHyperprior> hyperprior_;
};

/// Base of a Model that is made from a GaussianPrior, itself derived from Base (ObsModel, or a class below
/// it): what a model does with its prior beside using it.
template <class Model, class Base>
class WithGaussianPrior : public Base, public LearnedPrior {
 public:
  Capabilities capabilities() const override {
    Capabilities out = Base::capabilities();
    if (prior_.is_learned()) out.prior = this;
    return out;
  }
  std::shared_ptr<const ObsModel> learned(const double* t, Index k, Pool* pool) const final {
    return prior_.learned(static_cast<const Model&>(*this), t, k, pool);
  }
  double log_hyperprior() const final { return prior_.log_hyperprior(); }
  NamedArrays learned_fields() const final { return prior_.learned_fields(); }

 protected:
  /// base: arguments of Base's constructor.
  template <class... Arguments>
  explicit WithGaussianPrior(OwnGaussianPrior prior, Arguments&&... base)
      : Base(std::forward<Arguments>(base)...), prior_(std::move(prior)) {}

  const NormalWishart& prior() const { return prior_.in_engine_units(); }

 private:
  OwnGaussianPrior prior_;
};

}  // namespace bnpvi
