// Averages of features over the intervals (cells) of values that are rounded to the same number, for values
// above 0. gather.h (Columns) explains their use.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "foundation/fields.h"

namespace bnpvi {

/// How the values of a column are rounded. width: their spacing Δ. of_zero: the spacing for values 0; 0
/// itself has no logarithm, so a 0 always stands for an interval. shape, rate: the lowest values are spread
/// over their intervals by a gamma density with these parameters, fitted to the low values of the column.
/// Shape 1 and rate 0 spread them evenly.
struct Spacing {
  double width = 0, of_zero = 0, shape = 1, rate = 0;
};

/// The cell of a value x ≥ 0: the interval [x − Δ/2, x + Δ/2] of values that are rounded to x, cut off at 0.
/// If Δ = 0, it is the value x alone.
///
/// A value v is spread over the cell by q(v) ∝ v^(c − 1). c is chosen so that q has the slope of the column's
/// gamma density (Spacing) in the middle of the cell. For any q, log P(cell) ≥ E_q log p + H(q), and the
/// bound is close if q is near p. Cells far from 0 are narrow compared with their values; there q is even.
/// With v = high e^(−y), q(y) ∝ e^(−c y) on [0, L], L = log(high / low). Z(c) is the integral of e^(−c y).
class PositiveCell {
 public:
  PositiveCell(double x, const Spacing& spacing) : log_high_(std::log(x)) {
    const double width = x > 0 ? spacing.width : spacing.of_zero;
    const double low = std::max(x - width / 2, 0.0), high = x + width / 2;
    if (!(width > 0) || high - low < narrow * high) return;
    wide_ = true;
    log_high_ = std::log(high);
    length_ = low > 0 ? std::log(high / low) : INFINITY;
    if (x <= low_cells * width) power_ = spacing.shape - spacing.rate * (low + (high - low) / 2);
    if (low <= 0) power_ = std::max(power_, least_power);
    log_integral_ = log_integral(power_);
    log_width_ = std::log(high - low);
  }

  /// log E v, the logarithm of the mean of a value v spread over the cell by q.
  double log_mean() const { return log_mean_power(1, 0); }
  /// E log v, the mean logarithm of a value v spread over the cell by q.
  double mean_log() const { return wide_ ? log_high_ - mean_y() : log_high_; }
  /// log E (v / unit)^s for s > 0, for a value v spread over the cell by q; log_unit is log(unit).
  double log_mean_power(double s, double log_unit) const {
    const double of_high = s * (log_high_ - log_unit);
    return wide_ ? of_high + log_integral(power_ + s) - log_integral_ : of_high;
  }
  /// The entropy of q minus the entropy of an even spread over the cell: at most 0.
  double entropy() const {
    return wide_ ? log_integral_ + log_high_ - log_width_ + (power_ - 1) * mean_y() : 0;
  }

 private:
  static constexpr double narrow = 1e-8;  // below this, the square is lost in the rounding of logarithms
  static constexpr double low_cells = 8;
  static constexpr double least_power = 0.1;    // smallest c for a cell that reaches 0
  static constexpr double short_length = 0.05;  // value of c L below which series are used

  double log_integral(double c) const {
    if (std::isinf(length_)) return -std::log(c);
    const double u = c * length_;
    return std::log(length_) + (u == 0 ? 0 : std::log(-std::expm1(-u) / u));
  }
  // The mean of y = log(high / v), whose density is ∝ e^(−c y) on [0, L] with L = log(high / low): E y = 1 /
  // c − L / (e^(c L) − 1).
  double mean_y() const {
    if (std::isinf(length_)) return 1 / power_;
    const double u = power_ * length_;
    if (std::abs(u) < short_length)
      return length_ * (0.5 - u / 12 + u * u * u / 720 - std::pow(u, 5) / 30240);
    return length_ * (1 / u - 1 / std::expm1(u));
  }

  bool wide_ = false;
  double log_high_;  // log(high), or the logarithm of the value itself where the cell is narrow
  double length_ = 0, power_ = 1, log_integral_ = 0, log_width_ = 0;
};

/// Reads the spacings of d columns from the fields; 0 without a field. If densities are taken without
/// rounding, the field `zero_cells` has the spacings of the fit. They are then used for values 0 only.
inline std::vector<Spacing> spacings(const Fields& fields, Index d) {
  const auto of = [&](const char* name, double otherwise = 0) {
    return fields.has(name) ? fields.numbers(name, d) : Vec(static_cast<std::size_t>(d), otherwise);
  };
  const Vec width = of("rounding"), zero = of("zero_cells");
  const Vec shape = of("cell_shape", 1), rate = of("cell_rate");
  std::vector<Spacing> out;
  for (std::size_t j = 0; j < width.size(); ++j)
    out.push_back({width[j], std::max(width[j], zero[j]), shape[j], rate[j]});
  return out;
}

}  // namespace bnpvi
