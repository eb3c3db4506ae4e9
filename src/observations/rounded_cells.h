// Averages of features over the cells of rounded values above 0 (gather.h explains why: Columns).
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "foundation/fields.h"

namespace bnpvi {

/// The spacing Δ of the values of a column; of_zero: that of values 0, which need a cell in any case.
struct Spacing {
  double width = 0, of_zero = 0;
};

/// The cell [x − Δ/2, x + Δ/2] of a value x ≥ 0, cut off at 0; if Δ = 0, the value itself.
class PositiveCell {
 public:
  PositiveCell(double x, const Spacing& spacing) {
    const double width = x > 0 ? spacing.width : spacing.of_zero;
    const double low = std::max(x - width / 2, 0.0), high = x + width / 2;
    mean_ = low + (high - low) / 2;
    log_mean_ = std::log(mean_);
    half_ = width > 0 ? std::min((high - low) / (high + low), 1.0) : 0;
  }

  double mean() const { return mean_; }
  /// Average of log x over the cell: the log of the mean plus [(1 + r) log(1 + r) − (1 − r)
  /// log(1 − r)]/(2r) − 1.
  double mean_log() const {
    if (half_ < narrow) return log_mean_;
    return log_mean_ + (entropy(half_) - entropy(-half_)) / (2 * half_) - 1;
  }
  /// Logarithm of the average of (x / unit)^s over the cell, s > 0.
  double log_mean_power(double s, double log_unit) const {
    const double at_mean = s * (log_mean_ - log_unit);
    if (half_ < narrow) return at_mean;
    const double high = (s + 1) * std::log1p(half_);
    const double low_less_high = half_ < 1 ? (s + 1) * std::log1p(-half_) - high : -INFINITY;
    return at_mean + high + std::log(-std::expm1(low_less_high) / (2 * half_ * (s + 1)));
  }

 private:
  static constexpr double narrow = 1e-8;  // below this, r² is lost in the rounding of logarithms
  static double entropy(double r) { return r <= -1 ? 0 : (1 + r) * std::log1p(r); }

  double mean_, log_mean_;
  double half_;  // r, half the width divided by the mean
};

/// The spacings of d columns; 0 without a field. When densities are taken without rounding, the field
/// `zero_cells` holds the fit's spacings, which then apply to values 0 only.
inline std::vector<Spacing> spacings(const Fields& fields, Index d) {
  const auto of = [&](const char* name) {
    return fields.has(name) ? fields.numbers(name, d) : Vec(static_cast<std::size_t>(d), 0.0);
  };
  const Vec width = of("rounding"), zero = of("zero_cells");
  std::vector<Spacing> out;
  for (std::size_t j = 0; j < width.size(); ++j) out.push_back({width[j], std::max(width[j], zero[j])});
  return out;
}

}  // namespace bnpvi
