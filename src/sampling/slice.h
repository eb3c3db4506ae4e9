// Slice sampling of a single number.
#pragma once
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "foundation/random.h"

namespace bnpvi {

/// One step of slice sampling (stepping out and shrinkage) [Neal 2003, §4] for a number x > 0. It leaves the
/// distribution with density ∝ exp(log_density(x)) invariant. It works on log x, with interval width 1. x and
/// the result lie between `least` and `most`. Throws std::domain_error if the density at x is NaN, since then
/// no proposal would be accepted.
template <class F>
double slice_step(double x, double least, double most, F log_density, Stream& stream) {
  const auto f = [&](double y) { return log_density(std::exp(y)) + y; };
  const double low = std::log(least), high = std::log(most), y = std::log(x);
  const double level = f(y) + std::log1p(-stream.uniform());
  if (std::isnan(level) || std::isinf(y))
    throw std::domain_error("a density that is no number: numbers broke down");
  double left = y - stream.uniform(), right = left + 1;
  while (left > low && f(left) > level) left -= 1;
  while (right < high && f(right) > level) right += 1;
  left = std::max(left, low);
  right = std::min(right, high);
  for (;;) {
    const double proposal = left + stream.uniform() * (right - left);
    if (f(proposal) > level || proposal == y) return std::exp(proposal);
    (proposal < y ? left : right) = proposal;
  }
}

}  // namespace bnpvi
