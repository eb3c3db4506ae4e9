// The prior of Gaussian clusters in the user's units, and the model's hold on it.
#pragma once
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "foundation/fields.h"
#include "observations/capabilities.h"
#include "observations/hierarchical_gaussian.h"
#include "observations/hyper_fields.h"

namespace bnpvi {

/// Normal–Wishart: precision Λ ~ W(df, scale⁻¹), mean μ | Λ ~ N(mean, (mean_strength Λ)⁻¹); `mean` is empty
/// where the mean is known to be zero. Full covariance: scale is D × D. Diagonal: scale is D, and each
/// coordinate has its own one-dimensional Wishart, i.e. precision ~ Gamma(df/2, rate = scale/2). Spherical:
/// one number, of the precision that all coordinates have.
///
/// Of a hierarchical prior these are the effective ones, which q(H) makes; `about` and `posterior` are in the
/// user's units, too.
struct GaussianPrior {
  Vec mean;
  double mean_strength;
  double df;
  Vec scale;
  Vec centre, unit;
  bool gaps = false;  // cells may be missing
  bool hierarchical = false;
  HyperpriorOfData about;
  HyperPosterior posterior;
  Vec rounding;  // of the columns (Columns)
};

/// Columns of Gaussian rows: as many as units.
inline Index columns_of(const Fields& fields) { return static_cast<Index>(fields.numbers("unit").size()); }

/// Their spacings; empty where none is said.
inline Vec rounding_of(const Fields& fields) {
  return fields.has("rounding") ? fields.numbers("rounding", columns_of(fields)) : Vec{};
}

/// has_mean: it is not known to be zero. Hierarchical where the fields are there that say about what.
GaussianPrior gaussian_prior(const Fields& fields, ScaleShape shape, bool has_mean);

/// A model's own prior: in engine units, and what the model needs to learn it.
class OwnGaussianPrior {
 public:
  OwnGaussianPrior(GaussianPrior given, ScaleShape shape);

  /// One that is not learned, for a model that only works with it: it has no shape in the user's units.
  explicit OwnGaussianPrior(NormalWishart fixed) : engine_(std::move(fixed)) {}

  const NormalWishart& in_engine_units() const { return engine_; }

  bool is_learned() const { return hierarchical_.has_value(); }

  /// What LearnedPrior says of a hierarchical prior. The term of block j (NormalWishart) is for clusters with
  /// observations of it.
  double log_hyperprior() const { return log_density_; }
  double occupied_term(Index j) const { return occupied_[j]; }
  NamedArrays learned_fields() const;

  /// LearnedPrior::learned for a Model that is made from a GaussianPrior, or like another Model under a fixed
  /// NormalWishart prior, and has expected_cluster(t);
  /// nullptr, too, where a matrix on the way is singular in double precision.
  template <class Model>
  std::shared_ptr<const ObsModel> learned(const Model& from, const double* t, Index k, PriorSteps steps,
                                          Pool* pool) const {
    if (occupied_clusters(t, k, from.n_features()) == 0) return nullptr;
    const auto expect = [&](const NormalWishart& prior) {
      const Model model(from, prior);
      return sum_over_clusters(t, k, from.n_features(), pool,
                               [&](const double* tk) { return model.expected_cluster(tk); });
    };
    try {
      return std::make_shared<Model>(with_posterior(hierarchical_->improved(posterior_, steps, expect)));
    } catch (const std::domain_error&) {
      return nullptr;
    }
  }

 private:
  GaussianPrior with_posterior(const HyperPosterior& posterior) const;  // from engine units
  void set_in_user_units(GaussianPrior& out, const NormalWishart& prior) const;

  GaussianPrior given_;
  ScaleShape shape_ = ScaleShape::full;
  NormalWishart engine_;
  HyperPosterior posterior_;
  std::optional<HierarchicalGaussian> hierarchical_;
  double log_density_ = 0;
  Vec occupied_;  // terms, by block
};

/// Base of a Model that is made from a GaussianPrior, itself derived from Base (ObsModel, or a class below
/// it): what a model does with its prior beside using it. Models of several blocks, whose cells may be
/// missing, have an occupied_term() of their own.
template <class Model, class Base>
class WithGaussianPrior : public Base, public LearnedPrior {
 public:
  Capabilities capabilities() const override {
    Capabilities out = Base::capabilities();
    if (prior_.is_learned()) out.prior = this;
    return out;
  }
  std::shared_ptr<const ObsModel> learned(const double* t, Index k, PriorSteps steps,
                                          Pool* pool) const final {
    return prior_.learned(static_cast<const Model&>(*this), t, k, steps, pool);
  }
  double log_hyperprior() const final { return prior_.log_hyperprior(); }
  double occupied_term(const double* t) const override { return t[0] > 0 ? prior_.occupied_term(0) : 0; }
  bool has_occupied_term() const final { return true; }
  NamedArrays learned_fields() const final { return prior_.learned_fields(); }

 protected:
  /// base: arguments of Base's constructor.
  template <class... Arguments>
  explicit WithGaussianPrior(OwnGaussianPrior prior, Arguments&&... base)
      : Base(std::forward<Arguments>(base)...), prior_(std::move(prior)) {}

  const NormalWishart& prior() const { return prior_.in_engine_units(); }
  double term_of_block(Index j) const { return prior_.occupied_term(j); }

 private:
  OwnGaussianPrior prior_;
};

}  // namespace bnpvi
