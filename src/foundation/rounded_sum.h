// Sums with a bound on their rounding error.
#pragma once
#include <cmath>
#include <limits>

namespace bnpvi {

/// A sum Σ x together with Σ|x|, to which the rounding error of Σ x is proportional.
class RoundedSum {
 public:
  void add(double x) {
    value_ += x;
    size_ += std::abs(x);
  }
  void add(const RoundedSum& other) {
    value_ += other.value_;
    size_ += other.size_;
  }
  double value() const { return value_; }
  double size() const { return size_; }  // the sum of absolute values, Σ|x|

  /// A bound on the rounding error of the sum; smaller differences of such sums are noise. (Measured on 300
  /// objective values under random sticks, up to 30 each, against 60 digits: the largest error was 6 ε Σ|x|.)
  double rounding() const { return 8 * std::numeric_limits<double>::epsilon() * size_; }

  /// The sum as a term of the ELBO, or NaN if rounding may have changed it by 1 or more.
  double term() const { return rounding() < 1 ? value_ : std::numeric_limits<double>::quiet_NaN(); }

 private:
  double value_ = 0, size_ = 0;
};

}  // namespace bnpvi
