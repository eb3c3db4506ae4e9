// The logarithm of a product of many factors.
#pragma once
#include <cmath>

#include "foundation/special.h"

namespace bnpvi {

/// The logarithm of a product of positive numbers. Logarithms are taken only when the running product could
/// leave the range of doubles.
class LogProduct {
 public:
  void times(double x) {
    if (!(x > 1e-200 && x < 1e200)) {
      sum_ += std::log(x);
      return;
    }
    product_ *= x;
    if (!(product_ > 1e-100 && product_ < 1e100)) flush();
  }
  /// Multiplies the product by Γ(a + x) / Γ(a), a > 0, x ≥ 0.
  void times_rising(double a, double x) {
    if (x > most_factors || x != std::floor(x)) {
      sum_ -= log_gamma_difference(a, x);
      return;
    }
    for (double i = 0; i < x; ++i) times(a + i);
  }
  double log() {
    flush();
    return sum_;
  }

 private:
  // largest number of factors that are multiplied one by one; for more, log Γ is faster: a guess
  static constexpr double most_factors = 32;

  void flush() {
    sum_ += std::log(product_);
    product_ = 1;
  }

  double product_ = 1, sum_ = 0;
};

}  // namespace bnpvi
