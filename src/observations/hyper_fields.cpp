#include "observations/hyper_fields.h"

#include <stdexcept>

namespace bnpvi {

HyperpriorOfData hyperprior_of(const Fields& f, ScaleShape shape, Index d) {
  const Vec given = f.numbers("hyper_given", 4);
  HyperpriorOfData out;
  out.variance = f.numbers("data_variance", d);
  out.floor = f.numbers("data_floor", d);
  out.d = shape == ScaleShape::full ? d : 1;
  out.spherical = shape == ScaleShape::spherical;
  out.given = {given[0] != 0, given[1] != 0, given[2] != 0, given[3] != 0};
  return out;
}

HyperPosterior hyper_posterior(const Fields& f, ScaleShape shape, Index d, bool has_mean) {
  const Index size = shape == ScaleShape::full ? d * d : shape == ScaleShape::diagonal ? d : 1;
  HyperPosterior q;
  q.df = f.number("df");
  q.wishart_df = f.number("hyper_wishart_df");
  if (!(q.wishart_df >= 0)) throw std::invalid_argument("internal error: field hyper_wishart_df is below 0");
  q.shape = f.numbers("hyper_shape", size);
  q.shape_df = f.numbers("hyper_shape_df", q.wishart_df > 0 || shape == ScaleShape::spherical ? 1 : d);
  q.rate = f.numbers("hyper_rate", q.wishart_df > 0 ? d : 0);
  if (f.numbers("hyper_given", 4)[3] != 0) q.scale = f.numbers("hyper_scale", size);
  if (!has_mean) return q;
  q.mean_variance = f.numbers("hyper_mean_variance", shape == ScaleShape::full ? d * d : d);
  const Vec strength = f.numbers("hyper_strength", 2);
  q.strength_shape = strength[0];
  q.strength_rate = strength[1];
  return q;
}

NamedArrays learned_variances(const HyperPosterior& q, const Vec& scale, bool full, Index d) {
  const auto array = [&](const char* name, const Vec& x) {
    const bool matrix = full && static_cast<Index>(x.size()) == d * d;
    return NamedArray{name, x, matrix ? std::vector<Index>{d, d} : std::vector<Index>{}};
  };
  NamedArrays out{{"df", {q.df}, {}},
                  array("scale", scale),
                  {"hyper_wishart_df", {q.wishart_df}, {}},
                  array("hyper_shape", q.shape),
                  {"hyper_shape_df", q.shape_df, {}},
                  {"hyper_rate", q.rate, {}}};
  if (q.mean.empty()) return out;
  out.push_back(array("hyper_mean_variance", q.mean_variance));
  out.push_back({"hyper_strength", {q.strength_shape, q.strength_rate}, {}});
  return out;
}

void rescale_area(Vec& x, const Vec& unit, int sign) {
  const std::size_t d = unit.size();
  const bool matrix = x.size() == d * d && d > 1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double area = matrix ? unit[i / d] * unit[i % d] : unit[i] * unit[i];
    x[i] = sign > 0 ? x[i] * area : x[i] / area;
  }
}

void rescale_variances(HyperPosterior& q, const Vec& unit, int sign) {
  rescale_area(q.shape, unit, sign);
  rescale_area(q.mean_variance, unit, sign);
  rescale_area(q.scale, unit, sign);
  rescale_area(q.rate, unit, -sign);
}

void rescale_variances(HyperpriorOfData& about, const Vec& unit, int sign) {
  rescale_area(about.variance, unit, sign);
  rescale_area(about.floor, unit, sign);
}

}  // namespace bnpvi
