#include <cmath>
#include <limits>

#include "foundation/special.h"
#include "foundation/variates.h"
#include "observations/obs_models.h"
#include "observations/rounded_cells.h"
#include "observations/shaped_columns.h"

namespace bnpvi {

namespace {

// x ~ Gamma(s, rate θ), θ | s ~ Gamma(a, rate a m / s), so that m, a typical value, does not depend on s. In
// units of m, y = x / m, the sums are y and log y; q(θ | s) = Gamma(A, rate B), A = a + s N,
// B = a / s + S_y,
//   Λ_s = (s − 1) S_l − N log Γ(s) + log Γ(A) − log Γ(a) + a log(a / s) − A log B.
// With Stirling's remainder R(x) = log Γ(x) − x log x + x, the large terms cancel:
//   Λ_s = (s − 1) S_l − N R(s) + R(A) − R(a) − A log(s B / A).
// spacing: for rounded values, whose sums are averages over their cells.
class GammaColumn {
 public:
  GammaColumn(double a, double log_m, const ShapePrior& shape, const Spacing& spacing)
      : a_(a), log_m_(log_m), remainder_(stirling_remainder(a)), spacing_(spacing), shape_(shape) {}

  static constexpr bool has_base = true, fixed_points = false, wide_sums = false;
  static std::array<const char*, 2> parameters() { return {"a", "b"}; }
  static std::array<const char*, 2> means() { return {"shape", "mean"}; }
  Index sums() const { return 2; }

  void mend(double*) const {}
  void cell(double x, double, double* sum) const {
    const PositiveCell cell(x, spacing_);
    sum[1] = cell.mean_log() - log_m_;
    sum[0] = std::exp(cell.log_mean() - log_m_);
  }
  double log_base(double x, double) const { return PositiveCell(x, spacing_).entropy() - log_m_; }

  class At {
   public:
    At(const GammaColumn& column, double s)
        : a_(column.a_), s_(s), log_m_(column.log_m_), remainder_(stirling_remainder(s)) {}

    // With A' and B' for t + more: R(A') − R(A) − A log(A B' / (A' B)) − s n log(s B' / A') − ...
    double gain(const double* t, const double* more) const {
      const double n = more[0], a = big_a(t), b = big_b(t), a_more = s_ * n, b_more = more[1];
      const double growth = std::log1p(b_more / b) - std::log1p(a_more / a);
      return (s_ - 1) * more[2] - n * remainder_ + stirling_remainder(a + a_more) - stirling_remainder(a) -
             a * growth - a_more * std::log(s_ * (b + b_more) / (a + a_more));
    }
    // s (ψ(A) − log B) − log Γ(s), −A / B and s − 1.
    void weights(const double* t, double* w) const {
      const double a = big_a(t), b = big_b(t);
      w[0] = s_ * (1 + digamma(a) - std::log(a) - std::log(s_ * b / a)) - remainder_;
      w[1] = -a / b;
      w[2] = s_ - 1;
    }
    void draw(const double* t, Stream& stream, double* w) const {
      const double log_rate = draw_log_gamma(big_a(t), stream) - std::log(big_b(t));
      w[0] = s_ * (1 + log_rate - std::log(s_)) - remainder_;
      w[1] = -std::exp(log_rate);
      w[2] = s_ - 1;
    }
    std::array<double, 2> parameters(const double* t) const {
      return {big_a(t), big_b(t) * std::exp(log_m_)};
    }
    double big_a(const double* t) const { return a_ + s_ * t[0]; }
    double big_b(const double* t) const { return a_ / s_ + std::max(t[1], 0.0); }

   private:
    double a_, s_, log_m_, remainder_;
  };

  ShapeLattice posterior(const double* t) const {
    const double n = t[0], sum = std::max(t[1], 0.0), logs = t[2];
    return shape_.posterior(
        [this, n, sum, logs](double s) {
          const double a = a_ + s * n;
          return (s - 1) * logs - n * stirling_remainder(s) + stirling_remainder(a) - remainder_ -
                 a * std::log(s * (a_ / s + sum) / a);
        },
        n, t[0] >= 2 ? log_best_shape(log_ratio(t)) : std::numeric_limits<double>::quiet_NaN());
  }

  // With one more row, whose y is 1 and whose log y is the average for an exponential distribution of mean
  // 1.
  void best(const double* t, double* mean, double* w) const {
    const double euler = 0.57721566490153286;
    const double more[3] = {t[0] + 1, t[1] + 1, t[2] - euler};
    mean[0] = 1;
    mean[1] = more[1] / more[0];
    mean[2] = more[2] / more[0];
    const double s = shape_.known > 0 ? shape_.known : best_shape(std::max(log_ratio(more), 1e-14));
    w[0] = s * (1 - std::log(mean[1])) - stirling_remainder(s);
    w[1] = -s / mean[1];
    w[2] = s - 1;
  }

  // E s, and 1 / E[1/mean]; the mean s / θ itself has no expectation if some A ≤ 1.
  std::array<double, 2> summary(const double* t, const ShapeLattice& q) const {
    double shape = 0, inverse = 0;
    for (std::size_t i = 0; i < q.shape().size(); ++i) {
      const At at(*this, q.shape()[i]);
      shape += q.prob()[i] * q.shape()[i];
      inverse += q.prob()[i] * at.big_a(t) / (q.shape()[i] * at.big_b(t));
    }
    return {shape, std::exp(log_m_) / inverse};
  }

 private:
  // δ = log of the average y − average of log y; ≥ 0 up to rounding.
  static double log_ratio(const double* t) { return std::log(t[1] / t[0]) - t[2] / t[0]; }
  // The maximum-likelihood shape, ψ(s) − log s = −δ, by Newton's method in log s.
  static double best_shape(double delta) {
    double log_s = log_best_shape(delta);
    for (int i = 0; i < 20; ++i) {
      const double s = std::exp(log_s), step = (digamma(s) - log_s + delta) / trigamma_remainder(s);
      log_s -= step;
      if (std::abs(step) < 1e-12) break;
    }
    return std::exp(log_s);
  }

  double a_, log_m_, remainder_;
  Spacing spacing_;
  ShapePrior shape_;
};

}  // namespace

std::unique_ptr<ObsModel> make_shaped_gamma(const Fields& f) {
  const Vec a = of_columns(f, "a"), b = f.numbers("b", static_cast<Index>(a.size()));
  const std::vector<ShapePrior> shape = shape_priors(f, "shape", static_cast<Index>(a.size()));
  const std::vector<Spacing> spacing = spacings(f, static_cast<Index>(a.size()));
  std::vector<GammaColumn> columns;
  for (std::size_t j = 0; j < a.size(); ++j)
    columns.emplace_back(a[j], std::log(b[j]) - std::log(a[j]), shape[j], spacing[j]);
  return std::make_unique<ShapedColumns<GammaColumn>>(std::move(columns), counts_cells(f));
}

}  // namespace bnpvi
