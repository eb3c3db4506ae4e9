// The prior of Gaussian clusters in the user's units, and the base class of models that have one.
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

/// The normal–Wishart prior of a Gaussian cluster: precision Λ ~ W(df, scale⁻¹) and mean μ | Λ ~ N(mean,
/// (mean_strength Λ)⁻¹). `mean` is empty if the mean is known to be zero. With full covariance `scale` is D ×
/// D. With diagonal covariance it has D numbers, and each precision is Gamma(df/2, rate = scale/2). With
/// spherical covariance it is one number, for the precision that all columns share.
///
/// In a hierarchical prior these are the parameters of the prior that q(H), the posterior of the
/// hyperparameters, implies. `about` and `posterior` are in the user's units, too.
struct GaussianPrior {
  Vec mean;
  double mean_strength;
  double df;
  Vec scale;
  Vec centre, unit;
  bool gaps = false;  // may cells be missing?
  bool hierarchical = false;
  HyperpriorOfData about;
  HyperPosterior posterior;
  Vec rounding;  // spacing of the rounded values of each column (Columns)
};

/// The number of columns of Gaussian rows: the length of the field `unit`.
inline Index columns_of(const Fields& fields) { return static_cast<Index>(fields.numbers("unit").size()); }

/// The spacings of the values of rounded columns (Columns); empty if the fields have none.
inline Vec rounding_of(const Fields& fields) {
  return fields.has("rounding") ? fields.numbers("rounding", columns_of(fields)) : Vec{};
}

/// Reads the prior of Gaussian clusters from its fields. has_mean: false if the mean is known to be zero. The
/// prior is hierarchical if the fields of a hyperprior are present.
GaussianPrior gaussian_prior(const Fields& fields, ScaleShape shape, bool has_mean);

/// The prior of Gaussian clusters as used in a model: in engine units (columns centred and scaled), with what
/// is needed to learn it.
class OwnGaussianPrior {
 public:
  OwnGaussianPrior(GaussianPrior given, ScaleShape shape);

  /// A prior that is not learned, for models that exist only during a computation. Nothing of it is converted
  /// to the user's units.
  explicit OwnGaussianPrior(NormalWishart fixed) : engine_(std::move(fixed)) {}

  const NormalWishart& in_engine_units() const { return engine_; }

  bool is_learned() const { return hierarchical_.has_value(); }

  /// The functions of LearnedPrior for a hierarchical prior. occupied_term(j) is the part of
  /// LearnedPrior::occupied_term() for block j of the columns (NormalWishart).
  double log_hyperprior() const { return log_density_; }
  double occupied_term(Index j) const { return occupied_[j]; }
  NamedArrays learned_fields() const;

  /// Implements LearnedPrior::learned() for a class Model that has expected_cluster(t), and that can be
  /// constructed from a GaussianPrior or from another Model and a fixed NormalWishart prior. Also returns
  /// nullptr where a matrix in the computation is singular in double precision.
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
  GaussianPrior with_posterior(const HyperPosterior& posterior) const;  // from q in engine units
  void set_in_user_units(GaussianPrior& out, const NormalWishart& prior) const;

  GaussianPrior given_;
  ScaleShape shape_ = ScaleShape::full;
  NormalWishart engine_;
  HyperPosterior posterior_;
  std::optional<HierarchicalGaussian> hierarchical_;
  double log_density_ = 0;
  Vec occupied_;  // occupied term of each block of columns
};

/// Base class of models that are constructed from a GaussianPrior: the members that concern learning the
/// prior. Base is the class that Model would otherwise derive from (ObsModel, or a subclass). Models of
/// several blocks of columns whose cells may be missing override occupied_term().
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
  /// base: arguments for the constructor of Base.
  template <class... Arguments>
  explicit WithGaussianPrior(OwnGaussianPrior prior, Arguments&&... base)
      : Base(std::forward<Arguments>(base)...), prior_(std::move(prior)) {}

  const NormalWishart& prior() const { return prior_.in_engine_units(); }
  double term_of_block(Index j) const { return prior_.occupied_term(j); }

 private:
  OwnGaussianPrior prior_;
};

}  // namespace bnpvi
