#include <cmath>
#include <limits>

#include "foundation/bessel.h"
#include "foundation/special.h"
#include "foundation/variates.h"
#include "observations/obs_models.h"
#include "observations/rounded_cells.h"
#include "observations/shaped_columns.h"

namespace bnpvi {

namespace {

// x ~ von Mises with direction μ, uniform a priori, and concentration κ, the shape. The sums are those of
// cos x and sin x, a vector of length R: q(μ | κ) is von Mises with the direction of this vector and
// concentration κR, and
//   Λ_κ = −N log 2πI_0(κ) + log I_0(κR) = −κ (N − R) − N log(2π e^(−κ) I_0(κ)) + log(e^(−κR) I_0(κR)).
// For angles rounded with spacing Δ = width, cos x and sin x are averages over the cell, which multiplies
// them by sin(Δ/2) / (Δ/2).
class VonMisesColumn {
 public:
  VonMisesColumn(const ShapePrior& concentration, double width)
      : concentration_(concentration), length_(width > 0 ? std::sin(width / 2) / (width / 2) : 1) {}

  static constexpr bool has_base = false, fixed_points = false, wide_sums = false;
  static std::array<const char*, 2> parameters() { return {"location", "strength"}; }
  static std::array<const char*, 2> means() { return {"concentration", "direction"}; }
  Index sums() const { return 2; }

  void mend(double*) const {}
  void cell(double x, double, double* sum) const {
    sum[0] = length_ * std::cos(x);
    sum[1] = length_ * std::sin(x);
  }
  double log_base(double, double) const { return 0; }

  class At {
   public:
    At(const VonMisesColumn&, double kappa) : kappa_(kappa), log_scaled_(log_scaled_bessel(kappa)) {}

    double gain(const double* t, const double* more) const {
      const double both[3] = {t[0] + more[0], t[1] + more[1], t[2] + more[2]};
      const double r = length(t), with = length(both);
      return -kappa_ * (more[0] - (with - r)) - more[0] * (log_2pi + log_scaled_) +
             log_scaled_bessel(kappa_ * with) - log_scaled_bessel(kappa_ * r);
    }
    void weights(const double* t, double* w) const {
      const double slope = kappa_ * kappa_ * bessel_slope(kappa_ * length(t));
      w[0] = -kappa_ - log_2pi - log_scaled_;
      w[1] = slope * t[1];
      w[2] = slope * t[2];
    }
    void draw(const double* t, Stream& stream, double* w) const {
      const double mu = std::atan2(t[2], t[1]) + draw_von_mises(kappa_ * length(t), stream);
      w[0] = -kappa_ - log_2pi - log_scaled_;
      w[1] = kappa_ * std::cos(mu);
      w[2] = kappa_ * std::sin(mu);
    }
    std::array<double, 2> parameters(const double* t) const {
      return {std::atan2(t[2], t[1]), kappa_ * length(t)};
    }

   private:
    // R ≤ N, up to rounding.
    static double length(const double* t) { return std::min(std::hypot(t[1], t[2]), t[0]); }

    double kappa_, log_scaled_;
  };

  ShapeLattice posterior(const double* t) const {
    const double n = t[0], r = std::min(std::hypot(t[1], t[2]), n);
    return concentration_.posterior(
        [n, r](double kappa) {
          return -kappa * (n - r) - n * (log_2pi + log_scaled_bessel(kappa)) + log_scaled_bessel(kappa * r);
        },
        n, t[0] >= 2 ? log_near_best(std::hypot(t[1], t[2]) / t[0]) : not_known);
  }

  // With one more row without a direction (a zero vector).
  void best(const double* t, double* mean, double* w) const {
    mean[0] = 1;
    mean[1] = t[1] / (t[0] + 1);
    mean[2] = t[2] / (t[0] + 1);
    const double length = std::min(std::hypot(mean[1], mean[2]), 1 - 1e-15);
    const double kappa = concentration_.known > 0 ? concentration_.known : best_concentration(length);
    w[0] = -kappa - log_2pi - log_scaled_bessel(kappa);
    w[1] = length > 0 ? kappa * mean[1] / length : 0;
    w[2] = length > 0 ? kappa * mean[2] / length : 0;
  }

  std::array<double, 2> summary(const double* t, const ShapeLattice& q) const {
    double kappa = 0;
    for (std::size_t i = 0; i < q.shape().size(); ++i) kappa += q.prob()[i] * q.shape()[i];
    return {kappa, std::atan2(t[2], t[1])};
  }

 private:
  static constexpr double not_known = std::numeric_limits<double>::quiet_NaN();
  // κ with I_1(κ) / I_0(κ) = length < 1, by Newton's method; near 1, where differences lose their digits, by
  // the inverse of the asymptotic series.
  static double best_concentration(double length) {
    if (length > 1 - 1e-6) return 0.5 / (1 - length) + 0.25;
    double kappa = length * (2 - length * length) / (1 - length * length);
    for (int i = 0; i < 20 && kappa > 0; ++i) {
      const double slope = bessel_slope(kappa), ratio = kappa * slope;
      const double step = (ratio - length) / (1 - ratio * ratio - slope);
      kappa -= step;
      if (std::abs(step) < 1e-13 * kappa) break;
    }
    return kappa;
  }
  // A rough log of the same, or NaN where the average length has too few digits.
  static double log_near_best(double length) {
    if (!(length > 1e-3 && length < 1 - 1e-14)) return not_known;
    return std::log(length * (2 - length * length) / (1 - length * length));
  }

  ShapePrior concentration_;
  double length_;  // length of the vector of a single angle
};

}  // namespace

std::unique_ptr<ObsModel> make_von_mises(const Fields& f) {
  std::vector<VonMisesColumn> columns;
  const Index d = f.integer("d");
  const std::vector<Spacing> spacing = spacings(f, d);
  for (const ShapePrior& prior : shape_priors(f, "concentration", d))
    columns.emplace_back(prior, spacing[columns.size()].width);
  return std::make_unique<ShapedColumns<VonMisesColumn>>(std::move(columns), f.optional_flag("gaps"));
}

}  // namespace bnpvi
