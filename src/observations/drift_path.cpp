#include "observations/drift_path.h"

#include <algorithm>
#include <cmath>

#include "foundation/variates.h"

namespace bnpvi {

DriftPath::DriftPath(const DriftPrior& prior, const double* slots)
    : times_(prior.times()),
      d_(prior.columns()),
      start_(prior.mean),
      step_(prior.step),
      before_(static_cast<std::size_t>(times_)),
      after_(before_.size()),
      filtered_(static_cast<std::size_t>(times_ * d_)) {
  double strength = prior.strength;
  const double* mean = start_.data();
  for (Index t = 0; t < times_; ++t, slots += 1 + d_) {
    if (t > 0) strength /= 1 + step_[t - 1] * strength;
    before_[t] = after_[t] = strength;
    double* now = filtered_.data() + t * d_;
    if (const double n = slots[0]; n > 0) {
      after_[t] = strength + n;
      for (Index j = 0; j < d_; ++j) now[j] = (strength * mean[j] + slots[1 + j]) / after_[t];
      log_ratio_ -= std::log1p(n / strength);
    } else {
      std::copy_n(mean, d_, now);
    }
    strength = after_[t];
    mean = now;
  }
}

void DriftPath::smooth() {
  mean_ = filtered_;
  variance_.assign(static_cast<std::size_t>(times_), 1 / after_.back());
  for (Index t = times_ - 2; t >= 0; --t) {
    const double g = gain(t);
    variance_[t] = g * (step_[t] + g * variance_[t + 1]);
    for (Index j = 0; j < d_; ++j) {
      double& mean = mean_[t * d_ + j];
      mean = g * (step_[t] * after_[t] * mean + mean_[(t + 1) * d_ + j]);
    }
  }
}

Vec DriftPath::draw(const Vec& image, Stream& stream) const {
  Vec out(image.size());
  for (Index t = times_ - 1; t >= 0; --t) {
    const bool last = t == times_ - 1;
    const double sd = std::sqrt(last ? variance_[t] : step_[t] * gain(t));
    for (Index i = t * d_; i < (t + 1) * d_; ++i) {
      out[i] = image[i] + sd * draw_normal(stream);
      if (!last) out[i] += gain(t) * (out[i + d_] - image[i + d_]);
    }
  }
  return out;
}

}  // namespace bnpvi
