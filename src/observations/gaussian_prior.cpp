#include "observations/gaussian_prior.h"

#include <cmath>
#include <utility>

namespace bnpvi {

namespace {

// x times the units of its two columns, to the power of `sign`. x: D × D, D numbers, or one (whose unit is
// that of all columns).
void rescale(Vec& x, const Vec& unit, int sign) {
  const std::size_t d = unit.size();
  const bool matrix = x.size() == d * d && d > 1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double area = matrix ? unit[i / d] * unit[i % d] : unit[i] * unit[i];
    x[i] = sign > 0 ? x[i] * area : x[i] / area;
  }
}

// Mean and variances of means, degrees and rates of q(H), between the user's units (sign 1: to them) and the
// engine's.
void rescale(HyperPosterior& q, const GaussianPrior& given, int sign) {
  const Vec &unit = given.unit, &centre = given.centre;
  for (std::size_t i = 0; i < q.mean.size(); ++i)
    q.mean[i] = sign > 0 ? centre[i] + unit[i] * q.mean[i] : (q.mean[i] - centre[i]) / unit[i];
  rescale(q.shape, unit, sign);
  rescale(q.mean_variance, unit, sign);
  rescale(q.scale, unit, sign);
  rescale(q.rate, unit, -sign);
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
  rescale(engine_.scale, unit, -1);
  if (!given_.hierarchical) return;
  HyperpriorOfData about = given_.about;
  for (std::size_t i = 0; i < about.location.size(); ++i)
    about.location[i] = (about.location[i] - centre[i]) / unit[i];
  rescale(about.variance, unit, -1);
  rescale(about.floor, unit, -1);
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
  rescale(out.scale, given_.unit, 1);
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
  const HyperPosterior& q = given_.posterior;
  const auto array = [&](const char* name, const Vec& x) {
    const bool matrix = shape_ == ScaleShape::full && static_cast<Index>(x.size()) == d * d;
    return NamedArray{name, x, matrix ? std::vector<Index>{d, d} : std::vector<Index>{}};
  };
  NamedArrays out{{"df", {given_.df}, {}},
                  array("scale", given_.scale),
                  {"hyper_wishart_df", {q.wishart_df}, {}},
                  array("hyper_shape", q.shape),
                  {"hyper_shape_df", q.shape_df, {}},
                  {"hyper_rate", q.rate, {}}};
  if (given_.mean.empty()) return out;
  out.push_back({"mean", given_.mean, {}});
  out.push_back({"mean_strength", {given_.mean_strength}, {}});
  out.push_back(array("hyper_mean_variance", q.mean_variance));
  out.push_back({"hyper_strength", {q.strength_shape, q.strength_rate}, {}});
  return out;
}

GaussianPrior gaussian_prior(const Fields& f, ScaleShape shape, bool has_mean) {
  const Index d = columns_of(f);
  const Index size = shape == ScaleShape::full ? d * d : shape == ScaleShape::diagonal ? d : 1;
  GaussianPrior out{{},
                    1,
                    f.number("df"),
                    f.numbers("scale", size),
                    Vec(static_cast<std::size_t>(d), 0.0),
                    f.numbers("unit", d),
                    f.optional_flag("gaps"),
                    f.has("data_floor"),
                    {},
                    {},
                    rounding_of(f)};
  if (has_mean) {
    out.mean = f.numbers("mean", d);
    out.mean_strength = f.number("mean_strength");
    out.centre = f.numbers("centre", d);
  }
  if (!out.hierarchical) return out;
  const Vec given = f.numbers("hyper_given", 4);
  out.about = {{},
               f.numbers("data_variance", d),
               f.numbers("data_floor", d),
               shape == ScaleShape::full ? d : 1,
               shape == ScaleShape::spherical,
               {given[0] != 0, given[1] != 0, given[2] != 0, given[3] != 0}};
  HyperPosterior& q = out.posterior;
  q.df = out.df;
  q.wishart_df = f.number("hyper_wishart_df");
  q.shape = f.numbers("hyper_shape", size);
  q.shape_df = f.numbers("hyper_shape_df", q.wishart_df > 0 || shape == ScaleShape::spherical ? 1 : d);
  q.rate = f.numbers("hyper_rate", q.wishart_df > 0 ? d : 0);
  if (out.about.given.scale) q.scale = f.numbers("hyper_scale", size);
  if (!has_mean) return out;
  out.about.location = f.numbers("data_location", d);
  q.mean = out.mean;
  q.mean_variance = f.numbers("hyper_mean_variance", shape == ScaleShape::full ? d * d : d);
  const Vec strength = f.numbers("hyper_strength", 2);
  q.strength_shape = strength[0];
  q.strength_rate = strength[1];
  return out;
}

}  // namespace bnpvi
