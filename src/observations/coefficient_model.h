// Gaussian responses given regressors: autoregressions and regressions.
#pragma once
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "foundation/fields.h"
#include "observations/hierarchical_gaussian.h"
#include "observations/obs_wishart.h"

namespace bnpvi {

/// The prior of coefficients and noise, in engine units: matrix normal–Wishart, given, or what q(H) makes of
/// a hierarchical one, whose V is given and whose κ and m are learned.
class CoefficientPrior {
 public:
  explicit CoefficientPrior(WishartParameters given) : parameters_(std::move(given)) {}

  /// given: V, and the other parameters of q(H) itself; location: c (D × E); unit: of the responses.
  /// Hierarchical where the fields are there that say about what.
  CoefficientPrior(WishartParameters given, const Fields& fields, const Vec& location, const Vec& unit);

  const WishartParameters& parameters() const { return parameters_; }
  bool is_learned() const { return hierarchical_.has_value(); }
  double log_density() const { return log_density_; }
  double occupied_term() const { return occupied_; }
  const HyperPosterior& posterior() const { return posterior_; }
  const Vec& regressors() const { return regressors_; }  // V

  HyperPosterior improved(PriorSteps steps, const HierarchicalGaussian::Expect& expect) const {
    return hierarchical_->improved(posterior_, steps, expect);
  }
  CoefficientPrior with_posterior(HyperPosterior posterior) const;
  CoefficientPrior fixed_at(const NormalWishart& prior) const { return CoefficientPrior(at(prior)); }

 private:
  WishartParameters at(const NormalWishart& prior) const;
  void take_posterior();  // the rest follows it

  WishartParameters parameters_;
  Vec regressors_;
  HyperPosterior posterior_;
  std::optional<HierarchicalGaussian> hierarchical_;
  double log_density_ = 0, occupied_ = 0;
};

/// The prior that a model's fields describe, hierarchical where they say about what. given: in the user's
/// units; to_engine: what makes WishartParameters in engine units of such a prior; unit: of the responses.
template <class Given, class ToEngine>
CoefficientPrior described_prior(const Given& given, const Fields& fields, const Vec& unit,
                                 const ToEngine& to_engine) {
  Vec location;
  if (fields.has("data_location")) {
    Given about = given;
    about.coef_mean = fields.numbers("data_location", static_cast<Index>(given.coef_mean.size()));
    location = to_engine(about).coef;
  }
  return CoefficientPrior(to_engine(given), fields, location, unit);
}

/// A Wishart model of responses given regressors that users know, which shows coefficients and their
/// precision.
class CoefficientModel : public WishartModel, public LearnedPrior {
 public:
  Capabilities capabilities() const override;
  NamedArrays posterior(const double* t, Index k) const final;
  NamedArrays mean_parameters(const double* t, Index k) const final;

  std::shared_ptr<const ObsModel> learned(const double* t, Index k, PriorSteps steps, Pool* pool) const final;
  double log_hyperprior() const final { return prior_.log_density(); }
  double occupied_term(const double* t) const final { return t[0] > 0 ? prior_.occupied_term() : 0; }
  bool has_occupied_term() const final { return true; }
  NamedArrays learned_fields() const final;

 protected:
  CoefficientModel(CoefficientPrior prior, const Columns& columns, bool one_first)
      : WishartModel(prior.parameters(), columns, one_first), prior_(std::move(prior)) {}

  /// The same model with another prior.
  virtual std::shared_ptr<const CoefficientModel> with_prior(CoefficientPrior prior) const = 0;

  /// M̂ in the user's units and order of regressors, D × E × K.
  virtual NamedArray coef_array(const char* name, const std::vector<WishartParameters>& q) const = 0;

  /// V̂ (E × E), from engine units to the user's.
  virtual void precision_to_users(Vec& precision) const = 0;

 private:
  CoefficientPrior prior_;
};

}  // namespace bnpvi
