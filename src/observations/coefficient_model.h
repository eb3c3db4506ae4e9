// Gaussian responses given regressors: what autoregressions and regressions have in common.
#pragma once
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "foundation/fields.h"
#include "observations/hierarchical_gaussian.h"
#include "observations/obs_wishart.h"

namespace bnpvi {

/// The matrix normal–Wishart prior of coefficients and noise, in engine units (columns centred and scaled).
/// It is either given or hierarchical. In a hierarchical prior κ (the strength) and m (the mean of the
/// coefficients) are learned, and the prior is the one that q(H), the posterior of the hyperparameters,
/// implies. V, the column precision of the coefficients, is always given.
class CoefficientPrior {
 public:
  explicit CoefficientPrior(WishartParameters given) : parameters_(std::move(given)) {}

  /// given: V, the column precision of the coefficients; in a hierarchical prior also the parameters that
  /// q(H), the posterior of the hyperparameters, stores directly. location: the prior mean of the
  /// coefficients (D × E). unit: units of the responses. The prior is hierarchical if the fields have
  /// `data_floor`.
  CoefficientPrior(WishartParameters given, const Fields& fields, const Vec& location, const Vec& unit);

  const WishartParameters& parameters() const { return parameters_; }
  bool is_learned() const { return hierarchical_.has_value(); }
  double log_density() const { return log_density_; }
  double occupied_term() const { return occupied_; }
  const HyperPosterior& posterior() const { return posterior_; }
  const Vec& regressors() const { return regressors_; }  // V, the precision over regressors

  HyperPosterior improved(PriorSteps steps, const HierarchicalGaussian::Expect& expect) const {
    return hierarchical_->improved(posterior_, steps, expect);
  }
  CoefficientPrior with_posterior(HyperPosterior posterior) const;
  CoefficientPrior fixed_at(const NormalWishart& prior) const { return CoefficientPrior(at(prior)); }

 private:
  WishartParameters at(const NormalWishart& prior) const;
  void take_posterior();  // sets the members below it

  WishartParameters parameters_;
  Vec regressors_;
  HyperPosterior posterior_;
  std::optional<HierarchicalGaussian> hierarchical_;
  double log_density_ = 0, occupied_ = 0;
};

/// Reads the prior that a model's fields describe. It is hierarchical if the fields say so. given: the prior
/// in the user's units. to_engine: converts such a prior to WishartParameters in engine units (columns
/// centred and scaled). unit: units of the responses.
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

/// Base class of Wishart models whose regressors are columns of the user's data. It reports the posterior of
/// the coefficients in the user's units, and learns the prior.
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

  /// This model with `prior` in place of its own.
  virtual std::shared_ptr<const CoefficientModel> with_prior(CoefficientPrior prior) const = 0;

  /// The posterior means M̂ of the coefficients of K clusters, with posteriors q, in the user's units and
  /// order of regressors; D responses × E regressors × K.
  virtual NamedArray coef_array(const char* name, const std::vector<WishartParameters>& q) const = 0;

  /// Converts V̂, a posterior precision over regressors (E × E), from engine units to the user's, in place.
  virtual void precision_to_users(Vec& precision) const = 0;

 private:
  CoefficientPrior prior_;
};

}  // namespace bnpvi
