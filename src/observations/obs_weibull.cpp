#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "foundation/special.h"
#include "foundation/variates.h"
#include "observations/obs_models.h"
#include "observations/rounded_cells.h"
#include "observations/shape_grid.h"
#include "observations/shaped_columns.h"

namespace bnpvi {

namespace {

// x ~ Weibull(s) with hazard θ s x^(s−1), θ | s ~ Gamma(a / s, rate (a / s) m^s), m a typical value. The
// sums are δ log y and, for every possible s, y^s, with y = x / u and u near the middle of the data. (x^s at
// other s cannot be interpolated from these with positive weights, and one far row would expose the error.)
// δ = 0 where x is censored, and the count N is that of events. With A = a / s + N, M = Σ r y^s and
// B = (a / s)(m / u)^s + M,
//   Λ_s = N log s + (s − 1) S_l − N + R(A) − R(a / s) − A log(B / A) + a log(m / u),
// R(x) = log Γ(x) − x log x + x.
class WeibullColumn {
 public:
  struct Shapes {
    Vec value, log_prior;
  };
  // spacing: for rounded values, whose sums are averages over their cells.
  WeibullColumn(double a, double log_m, double log_unit, Shapes shapes, const Spacing& spacing)
      : a_(a), low_(log_m - log_unit), log_unit_(log_unit), spacing_(spacing), shapes_(std::move(shapes)) {}

  static constexpr bool has_base = true, fixed_points = true, wide_sums = true;
  static std::array<const char*, 2> parameters() { return {"a", "b"}; }
  static std::array<const char*, 2> means() { return {"shape", "scale"}; }
  Index sums() const { return 1 + n_shapes(); }

  // log Σ r y^s is convex in s, so that the line through its values at two shapes is a lower bound at larger
  // shapes. If a row whose power is many orders of magnitude larger than all others leaves a cluster, its
  // rounding error remains, and a sum below this bound would suggest a cluster of equal values. With almost
  // no event left, the sums consist of nothing but rounding.
  void mend(double* t) const {
    if (t[0] < 1e-6) return;
    double last_s = 0, last = 0, slope = -std::numeric_limits<double>::infinity();
    bool begun = false;
    for (Index g = 0; g < n_shapes(); ++g) {
      const double s = shapes_.value[g];
      const double least = begun ? last + slope * (s - last_s) : -std::numeric_limits<double>::infinity();
      const double here = t[2 + g] > 0 ? std::log(t[2 + g]) : -std::numeric_limits<double>::infinity();
      if (here < least - 1e-6) {
        t[2 + g] = std::exp(std::min(least, most));
      } else if (t[2 + g] > 0) {
        if (begun) slope = (here - last) / (s - last_s);
        begun = true;
        last = here;
        last_s = s;
      }
    }
  }
  void cell(double x, double event, double* sum) const {
    std::fill_n(sum, sums(), 0.0);
    const PositiveCell cell(x, spacing_);
    if (!(cell.log_mean() > -INFINITY)) return;  // a time of 0
    sum[0] = event * (cell.mean_log() - log_unit_);
    for (Index g = 0; g < n_shapes(); ++g)
      sum[1 + g] = std::exp(std::min(cell.log_mean_power(shapes_.value[g], log_unit_), most));
  }
  double log_base(double x, double event) const {
    return PositiveCell(x, spacing_).entropy() - event * log_unit_;
  }

  class At {
   public:
    At(const WeibullColumn& column, double s)
        : column_(&column),
          at_(std::lower_bound(column.shapes_.value.begin(), column.shapes_.value.end(), s) -
              column.shapes_.value.begin()),
          s_(s),
          first_a_(column.a_ / s),
          first_b_(first_a_ * std::exp(s * column.low_)) {}

    double gain(const double* t, const double* more) const {
      const double n = std::max(more[0], 0.0), a = big_a(t), b = big_b(t), log_with = log_sum(b, more);
      const double growth = log_with - std::log(b) - std::log1p(n / a);
      return n * (std::log(s_) - 1) + (s_ - 1) * more[1] + stirling_remainder(a + n) - stirling_remainder(a) -
             a * growth - n * (log_with - std::log(a + n));
    }
    void weights(const double* t, double* w) const {
      const double a = big_a(t), b = big_b(t);
      fill(std::log(s_) + digamma(a) - std::log(b), a / b, w);
    }
    void draw(const double* t, Stream& stream, double* w) const {
      const double log_rate = draw_log_gamma(big_a(t), stream) - std::log(big_b(t));
      fill(std::log(s_) + log_rate, std::exp(log_rate), w);
    }
    // A, and the value of x for which x^s is B.
    std::array<double, 2> parameters(const double* t) const {
      return {big_a(t), std::exp(std::log(big_b(t)) / s_ + column_->log_unit_)};
    }
    // E log of the scale θ^(−1/s), in units u.
    double log_scale(const double* t) const { return (std::log(big_b(t)) - digamma(big_a(t))) / s_; }
    // The log likelihood of an average event at the best θ, and its weights there.
    double likelihood(const double* t) const { return std::log(s_ / t[2 + at_]) + (s_ - 1) * t[1] - 1; }
    void best_weights(const double* t, double* w) const {
      fill(std::log(s_ / t[2 + at_]), 1 / t[2 + at_], w);
    }

   private:
    double big_a(const double* t) const { return first_a_ + std::max(t[0], 0.0); }
    double big_b(const double* t) const { return first_b_ + std::max(t[2 + at_], 0.0); }
    // log(b + Σ y^s). If the sum overflows, it is extrapolated from the sum at the smallest shape: a row may
    // be that far from all rows of a cluster.
    double log_sum(double b, const double* more) const {
      const Vec& shapes = column_->shapes_.value;
      if (more[2 + at_] < std::exp(most)) return std::log(b + std::max(more[2 + at_], 0.0));
      return std::max(most, std::log(more[2]) * s_ / shapes.front());
    }
    void fill(double of_event, double rate, double* w) const {
      std::fill_n(w, 1 + column_->sums(), 0.0);
      w[0] = of_event;
      w[1] = s_ - 1;
      w[2 + at_] = -rate;
    }

    const WeibullColumn* column_;
    std::ptrdiff_t at_;
    double s_, first_a_, first_b_;
  };

  ShapeGrid posterior(const double* t) const {
    const Vec none(static_cast<std::size_t>(1 + sums()), 0.0);
    Vec height = shapes_.log_prior;
    for (std::size_t g = 0; g < height.size(); ++g)
      height[g] += At(*this, shapes_.value[g]).gain(none.data(), t);
    return ShapeGrid(shapes_.value, std::move(height));
  }

  // With one more event, at time m.
  void best(const double* t, double* mean, double* w) const {
    mean[0] = 1;
    mean[1] = (t[1] + low_) / (t[0] + 1);
    for (Index g = 0; g < n_shapes(); ++g)
      mean[2 + g] = (std::max(t[2 + g], 0.0) + std::exp(shapes_.value[g] * low_)) / (t[0] + 1);
    double top = -std::numeric_limits<double>::infinity(), best_shape = shapes_.value.front();
    for (double s : shapes_.value)
      if (const double here = At(*this, s).likelihood(mean); here > top) {
        top = here;
        best_shape = s;
      }
    At(*this, best_shape).best_weights(mean, w);
  }

  // E s, and the scale at the mean of its logarithm.
  std::array<double, 2> summary(const double* t, const ShapeGrid& q) const {
    double shape = 0, log_scale = log_unit_;
    for (std::size_t g = 0; g < q.shape().size(); ++g) {
      shape += q.prob()[g] * q.shape()[g];
      log_scale += q.prob()[g] * At(*this, q.shape()[g]).log_scale(t);
    }
    return {shape, std::exp(log_scale)};
  }

 private:
  static constexpr double most = 690;  // largest logarithm of a sum
  Index n_shapes() const { return static_cast<Index>(shapes_.value.size()); }

  double a_, low_, log_unit_;
  Spacing spacing_;
  Shapes shapes_;
};

// Shapes evenly spaced in log s from .1 to `most`, with the density of log s under s ~ Gamma(c, d).
WeibullColumn::Shapes shapes_up_to(double most, double number, const GammaPrior& prior) {
  if (!(number >= 2 && number <= 1e6))
    throw std::invalid_argument("internal error: field points is out of its range");
  const Index points = static_cast<Index>(number);
  WeibullColumn::Shapes out;
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (Index g = 0; g < points; ++g) {
    const double s = 0.1 * std::pow(most / 0.1, static_cast<double>(g) / static_cast<double>(points - 1));
    out.value.push_back(s);
    out.log_prior.push_back(prior.shape * std::log(s) - prior.rate * s);
    top = std::max(top, out.log_prior.back());
  }
  for (double v : out.log_prior) sum += std::exp(v - top);
  for (double& v : out.log_prior) v -= top + std::log(sum);
  return out;
}

}  // namespace

std::unique_ptr<ObsModel> make_weibull(const Fields& f) {
  const Vec a = of_columns(f, "a");
  const auto d = static_cast<Index>(a.size());
  const Vec b = f.numbers("b", d), log_unit = f.numbers("log_unit", d);
  const std::vector<ShapePrior> shape = shape_priors(f, "shape", d);
  const bool known = f.optional_flag("known");
  const Vec most = known ? Vec() : f.numbers("most", d);
  const std::vector<Spacing> spacing = spacings(f, d);
  std::vector<WeibullColumn> columns;
  for (std::size_t j = 0; j < a.size(); ++j)
    columns.emplace_back(a[j], std::log(b[j]) - std::log(a[j]), log_unit[j],
                         known ? WeibullColumn::Shapes{{shape[j].known}, {0.0}}
                               : shapes_up_to(most[j], f.number("points"), shape[j].prior),
                         spacing[j]);
  return std::make_unique<ShapedColumns<WeibullColumn>>(std::move(columns), counts_cells(f),
                                                        f.optional_flag("censored"));
}

}  // namespace bnpvi
