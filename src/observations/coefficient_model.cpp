#include "observations/coefficient_model.h"

#include <stdexcept>
#include <utility>

#include "observations/hyper_fields.h"

namespace bnpvi {

CoefficientPrior::CoefficientPrior(WishartParameters given, const Fields& fields, const Vec& location,
                                   const Vec& unit)
    : parameters_(std::move(given)) {
  if (!fields.has("data_floor")) return;
  HyperpriorOfData about = hyperprior_of(fields, ScaleShape::full, parameters_.d);
  rescale_variances(about, unit, -1);
  about.location = location;
  about.regressors = regressors_ = parameters_.precision;
  posterior_ = hyper_posterior(fields, ScaleShape::full, parameters_.d, true);
  rescale_variances(posterior_, unit, -1);
  posterior_.mean = parameters_.coef;
  hierarchical_.emplace(std::move(about));
  take_posterior();
}

void CoefficientPrior::take_posterior() {
  parameters_ = at(hierarchical_->effective(posterior_));
  log_density_ = hierarchical_->log_density(posterior_);
  occupied_ = hierarchical_->occupied_term(posterior_, 0);
}

WishartParameters CoefficientPrior::at(const NormalWishart& prior) const {
  WishartParameters out{parameters_.e, parameters_.d, prior.df, prior.mean, regressors_, prior.scale};
  for (double& value : out.precision) value *= prior.strength;
  return out;
}

CoefficientPrior CoefficientPrior::with_posterior(HyperPosterior posterior) const {
  CoefficientPrior out = *this;
  out.posterior_ = std::move(posterior);
  out.take_posterior();
  return out;
}

Capabilities CoefficientModel::capabilities() const {
  Capabilities out = WishartModel::capabilities();
  if (prior_.is_learned()) out.prior = this;
  return out;
}

std::shared_ptr<const ObsModel> CoefficientModel::learned(const double* t, Index k, PriorSteps steps,
                                                          Pool* pool) const {
  if (occupied_clusters(t, k, n_features()) == 0) return nullptr;
  const auto expect = [&](const NormalWishart& prior) {
    const auto model = with_prior(prior_.fixed_at(prior));
    return sum_over_clusters(t, k, n_features(), pool, [&](const double* tk) {
      return model->expected_cluster(tk, prior_.regressors());
    });
  };
  try {
    return with_prior(prior_.with_posterior(prior_.improved(steps, expect)));
  } catch (const std::domain_error&) {
    return nullptr;
  }
}

NamedArrays CoefficientModel::learned_fields() const {
  if (!prior_.is_learned()) return {};
  const std::vector<WishartParameters> effective{prior_.parameters()};
  const Vec unit(columns().unit.begin(), columns().unit.begin() + responses());
  HyperPosterior q = prior_.posterior();
  rescale_variances(q, unit, 1);
  Vec scale = prior_.parameters().scale, precision = prior_.parameters().precision;
  rescale_area(scale, unit, 1);
  NamedArrays out = learned_variances(q, scale, true, responses());
  NamedArray coef = coef_array("coef_mean", effective);
  coef.dim.pop_back();
  out.push_back(std::move(coef));
  precision_to_users(precision);
  out.push_back({"coef_precision", precision, {regressors(), regressors()}});
  return out;
}

NamedArrays CoefficientModel::posterior(const double* t, Index k) const {
  const auto q = posterior_parameters(t, k);
  NamedArray precision{"coef_precision", {}, {regressors(), regressors(), k}};
  for (const auto& cluster : q) {
    Vec v = cluster.precision;
    precision_to_users(v);
    precision.value.insert(precision.value.end(), v.begin(), v.end());
  }
  return {coef_array("coef_mean", q), precision, df_array(q), scale_array(q)};
}

NamedArrays CoefficientModel::mean_parameters(const double* t, Index k) const {
  const auto q = posterior_parameters(t, k);
  return {coef_array("coef", q), covariance_array(q)};
}

}  // namespace bnpvi
