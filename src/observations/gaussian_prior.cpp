#include "observations/gaussian_prior.h"

#include <cmath>
#include <utility>

namespace bnpvi {

namespace {

// Converts mean and variances of q(H) to the user's units (sign 1) or to engine units (−1).
void rescale(HyperPosterior& q, const GaussianPrior& given, int sign) {
  const Vec &unit = given.unit, &centre = given.centre;
  for (std::size_t i = 0; i < q.mean.size(); ++i)
    q.mean[i] = sign > 0 ? centre[i] + unit[i] * q.mean[i] : (q.mean[i] - centre[i]) / unit[i];
  rescale_variances(q, unit, sign);
}

}  // namespace

OwnGaussianPrior::OwnGaussianPrior(GaussianPrior given, ScaleShape shape)
    : given_(std::move(given)),
      shape_(shape),
      engine_{given_.mean, given_.mean_strength, given_.df, given_.scale},
      posterior_(given_.posterior) {
  const Vec &centre = given_.centre, &unit = given_.unit;
  for (std::size_t i = 0; i < engine_.mean.size(); ++i)
    engine_.mean[i] = (engine_.mean[i] - centre[i]) / unit[i];
  rescale_area(engine_.scale, unit, -1);
  if (!given_.hierarchical) return;
  HyperpriorOfData about = given_.about;
  for (std::size_t i = 0; i < about.location.size(); ++i)
    about.location[i] = (about.location[i] - centre[i]) / unit[i];
  rescale_variances(about, unit, -1);
  rescale(posterior_, given_, -1);
  hierarchical_.emplace(std::move(about));
  engine_ = hierarchical_->effective(posterior_);
  set_in_user_units(given_, engine_);
  log_density_ = hierarchical_->log_density(posterior_);
  for (Index j = 0; j < hierarchical_->blocks(); ++j)
    occupied_.push_back(hierarchical_->occupied_term(posterior_, j));
}

void OwnGaussianPrior::set_in_user_units(GaussianPrior& out, const NormalWishart& prior) const {
  for (std::size_t i = 0; i < out.mean.size(); ++i)
    out.mean[i] = given_.centre[i] + given_.unit[i] * prior.mean[i];
  out.mean_strength = prior.strength;
  out.df = prior.df;
  out.scale = prior.scale;
  rescale_area(out.scale, given_.unit, 1);
}

GaussianPrior OwnGaussianPrior::with_posterior(const HyperPosterior& posterior) const {
  GaussianPrior out = given_;
  out.posterior = posterior;
  rescale(out.posterior, given_, 1);
  return out;
}

NamedArrays OwnGaussianPrior::learned_fields() const {
  if (!hierarchical_) return {};
  const Index d = static_cast<Index>(given_.unit.size());
  NamedArrays out = learned_variances(given_.posterior, given_.scale, shape_ == ScaleShape::full, d);
  if (given_.mean.empty()) return out;
  out.push_back({"mean", given_.mean, {}});
  out.push_back({"mean_strength", {given_.mean_strength}, {}});
  return out;
}

GaussianPrior gaussian_prior(const Fields& f, ScaleShape shape, bool has_mean) {
  const Index d = columns_of(f);
  const Index size = shape == ScaleShape::full ? d * d : shape == ScaleShape::diagonal ? d : 1;
  // Assigned field by field: where one of several initialisers throws, GCC 12 frees the earlier ones twice.
  GaussianPrior out;
  out.mean_strength = 1;
  out.df = f.number("df");
  out.scale = f.numbers("scale", size);
  out.centre.assign(static_cast<std::size_t>(d), 0.0);
  out.unit = f.numbers("unit", d);
  out.gaps = f.optional_flag("gaps");
  out.hierarchical = f.has("data_floor");
  out.rounding = rounding_of(f);
  if (has_mean) {
    out.mean = f.numbers("mean", d);
    out.mean_strength = f.number("mean_strength");
    out.centre = f.numbers("centre", d);
  }
  if (!out.hierarchical) return out;
  out.about = hyperprior_of(f, shape, d);
  out.posterior = hyper_posterior(f, shape, d, has_mean);
  if (!has_mean) return out;
  out.about.location = f.numbers("data_location", d);
  out.posterior.mean = out.mean;
  return out;
}

}  // namespace bnpvi
