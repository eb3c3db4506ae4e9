#include "observations/gaussian_prior.h"

#include <utility>

namespace bnpvi {

namespace {

// f(i, j, at) of every entry of the J blocks of d × d: its two columns, and its place.
template <class F>
void for_each_entry(Index columns, Index d, F f) {
  for (Index i = 0; i < columns; ++i)
    for (Index j = i - i % d; j < i - i % d + d; ++j) f(i, j, i * d + j % d);
}

}  // namespace

OwnGaussianPrior::OwnGaussianPrior(GaussianPrior given, Index d)
    : given_(std::move(given)), d_(d), engine_{given_.mean, given_.mean_strength, given_.df, given_.scale} {
  const Vec &centre = given_.centre, &unit = given_.unit;
  const Index columns = static_cast<Index>(unit.size());
  for (Index i = 0; i < static_cast<Index>(engine_.mean.size()); ++i)
    engine_.mean[i] = (engine_.mean[i] - centre[i]) / unit[i];
  for_each_entry(columns, d_, [&](Index i, Index j, Index at) {
    engine_.scale[at] = engine_.scale[at] / unit[i] / unit[j];
  });
  if (given_.data_variance.empty()) return;
  Vec location = given_.data_location, variance = given_.data_variance;
  for (Index i = 0; i < columns; ++i) {
    if (!location.empty()) location[i] = (location[i] - centre[i]) / unit[i];
    variance[i] = variance[i] / unit[i] / unit[i];
  }
  hyperprior_.emplace(std::move(location), std::move(variance), d_);
}

GaussianPrior OwnGaussianPrior::in_user_units(const NormalWishart& prior) const {
  GaussianPrior out = given_;
  const Vec& unit = given_.unit;
  for (std::size_t i = 0; i < out.mean.size(); ++i) out.mean[i] = given_.centre[i] + unit[i] * prior.mean[i];
  out.mean_strength = prior.strength;
  out.df = prior.df;
  for_each_entry(static_cast<Index>(unit.size()), d_,
                 [&](Index i, Index j, Index at) { out.scale[at] = prior.scale[at] * unit[i] * unit[j]; });
  return out;
}

NamedArrays OwnGaussianPrior::learned_fields() const {
  NamedArrays out{{"df", {given_.df}, {}}, {"scale", given_.scale, {}}};
  if (d_ > 1 || given_.unit.size() == 1) out[1].dim = {d_, d_};
  if (given_.mean.empty()) return out;
  out.push_back({"mean", given_.mean, {}});
  out.push_back({"mean_strength", {given_.mean_strength}, {}});
  return out;
}

GaussianPrior gaussian_prior(const Fields& f, Index size, bool has_mean) {
  const Index d = columns_of(f);
  GaussianPrior out{{},
                    1,
                    f.number("df"),
                    f.numbers("scale", size),
                    Vec(static_cast<std::size_t>(d), 0.0),
                    f.numbers("unit", d),
                    {},
                    {},
                    f.optional_flag("gaps")};
  if (has_mean) {
    out.mean = f.numbers("mean", d);
    out.mean_strength = f.number("mean_strength");
    out.centre = f.numbers("centre", d);
  }
  if (!f.has("data_variance")) return out;
  out.data_variance = f.numbers("data_variance", d);
  if (has_mean) out.data_location = f.numbers("data_location", d);
  return out;
}

}  // namespace bnpvi
