// The posterior of a shape parameter that has one of a few values.
#pragma once
#include <algorithm>
#include <cmath>

#include "foundation/random.h"
#include "foundation/types.h"

namespace bnpvi {

/// The posterior of a shape parameter s over a few given values, in ascending order: q(s) ∝ p(s) exp Λ_s. Λ_s
/// is the log evidence of the data given s.
class ShapeGrid {
 public:
  /// height: log p(s) + Λ_s at each value of the shape s, with Λ_s the log evidence given s.
  ShapeGrid(const Vec& shape, Vec height) : shape_(shape), prob_(std::move(height)) {
    const double top = *std::max_element(prob_.begin(), prob_.end());
    double sum = 0;
    for (double& v : prob_) sum += v = std::exp(v - top);
    for (double& v : prob_) v /= sum;
    log_integral_ = top + std::log(sum);
  }

  double log_integral() const { return log_integral_; }
  const Vec& shape() const { return shape_; }
  const Vec& prob() const { return prob_; }
  double draw(Stream& stream) const { return shape_[static_cast<std::size_t>(bnpvi::draw(prob_, stream))]; }

 private:
  Vec shape_, prob_;
  double log_integral_;
};

}  // namespace bnpvi
