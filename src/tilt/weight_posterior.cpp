#include "tilt/weight_posterior.h"

#include <cmath>
#include <numeric>

#include "foundation/special.h"

namespace bnpvi {

namespace {

double trigamma(double x) { return (1 + trigamma_remainder(x)) / x; }

}  // namespace

WeightPosterior::WeightPosterior(const TiltPrior& prior, const Vec& values, const Vec& sizes)
    : prior_(prior), values_(values), k_(static_cast<Index>(sizes.size())), surplus_(values.size()) {
  const Vec best = untilted_weights(prior, sizes);
  for (std::size_t i = 0; i < values.size(); ++i) surplus_[i] = best[i] - values[i];
  concentration_each_ = prior.concentration / static_cast<double>(k_);
  if (prior.finite) all_ = std::accumulate(values.begin(), values.end(), 0.0);
}

RoundedSum WeightPosterior::value() const {
  RoundedSum out;
  if (prior_.finite) {
    const bool even = prior_.weights.empty();
    out.add(even ? log_gamma_difference(prior_.concentration, all_ - prior_.concentration)
                 : -log_gamma(all_));
    const double psi_all = digamma(all_);
    for (std::size_t j = 0; j < values_.size(); ++j) {
      out.add(log_gamma(values_[j]) - (even ? log_gamma(concentration_each_) : 0));
      if (surplus_[j] != 0) out.add(surplus_[j] * (digamma(values_[j]) - psi_all));
    }
    return out;
  }
  for (Index j = 0; j < k_; ++j) {
    const double a = values_[2 * j], b = values_[2 * j + 1];
    out.add(log_beta(a, b) + std::log(prior_.concentration));
    if (surplus_[2 * j] != 0) out.add(surplus_[2 * j] * digamma_difference(a, b));
    if (surplus_[2 * j + 1] != 0) out.add(surplus_[2 * j + 1] * digamma_difference(b, a));
  }
  return out;
}

Vec WeightPosterior::expected_log() const {
  Vec out(static_cast<std::size_t>(k_));
  double rest = 0;
  const double psi_all = prior_.finite ? digamma(all_) : 0;
  for (Index j = 0; j < k_; ++j) {
    if (prior_.finite) {
      out[j] = digamma(values_[j]) - psi_all;
      continue;
    }
    const double a = values_[2 * j], b = values_[2 * j + 1];
    out[j] = digamma_difference(a, b) + rest;
    rest += digamma_difference(b, a);
  }
  return out;
}

Vec WeightPosterior::log_mean() const {
  Vec out(static_cast<std::size_t>(k_ + 1));
  double rest = 0;
  for (Index j = 0; j < k_; ++j) {
    if (prior_.finite) {
      out[j] = std::log(values_[j] / all_);
      continue;
    }
    const double a = values_[2 * j], b = values_[2 * j + 1];
    out[j] = std::log(a / (a + b)) + rest;
    rest += std::log(b / (a + b));
  }
  out[k_] = !prior_.finite ? rest : prior_.rest ? std::log(values_.back() / all_) : -INFINITY;
  return out;
}

Vec untilted_weights(const TiltPrior& prior, const Vec& sizes) {
  if (!prior.weights.empty()) {
    Vec out = prior.weights;
    for (std::size_t j = 0; j < sizes.size(); ++j) out[j] += sizes[j];
    return out;
  }
  const std::size_t k = sizes.size(), width = prior.finite ? 1 : 2;
  const double each = prior.concentration / static_cast<double>(k);
  Vec out(k * width);
  double after = 0;
  for (std::size_t j = k; j-- > 0; after += sizes[j]) {
    out[j * width] = (prior.finite ? each : 1) + sizes[j];
    if (!prior.finite) out[j * width + 1] = prior.concentration + after;
  }
  return out;
}

WeightSteps::WeightSteps(const TiltPrior& prior, const Vec& from) : prior_(prior), from_(from) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (prior.finite)
      scale_.push_back(1 / std::sqrt(1 + from[i]));
    else
      scale_.push_back(i % 2 == 0 ? std::sqrt(1 / from[i] + 1 / from[i + 1]) : 1);
  }
}

Vec WeightSteps::moved(const double* step) const {
  Vec out(from_.size());
  for (std::size_t i = 0; i < from_.size(); ++i) {
    if (prior_.finite) {
      out[i] = from_[i] * std::exp(scale_[i] * step[i]);
    } else if (i % 2 == 0) {
      const double logit = std::log(from_[i] / from_[i + 1]) + scale_[i] * step[i],
                   all = (from_[i] + from_[i + 1]) * std::exp(scale_[i + 1] * step[i + 1]);
      out[i] = all * std::exp(-log_1p_exp(-logit));
      out[i + 1] = all * std::exp(-log_1p_exp(logit));
    }
  }
  return out;
}

void WeightSteps::gradient(const WeightPosterior& at, const Vec& reached, double* out) const {
  const Vec &values = at.values_, &surplus = at.surplus_;
  if (prior_.finite) {
    const double all_surplus = std::accumulate(surplus.begin(), surplus.end(), 0.0),
                 curve = trigamma(at.all_), rows = std::accumulate(reached.begin(), reached.end(), 0.0);
    for (std::size_t j = 0; j < values.size(); ++j) {
      const double slope =
          surplus[j] * trigamma(values[j]) - all_surplus * curve - reached[j] / values[j] + rows / at.all_;
      out[j] = scale_[j] * values[j] * slope;
    }
    return;
  }
  double after = reached[static_cast<std::size_t>(at.k_)];
  for (Index j = at.k_; j-- > 0; after += reached[j]) {
    const double a = values[2 * j], b = values[2 * j + 1], all = a + b;
    const double both = (surplus[2 * j] + surplus[2 * j + 1]) * trigamma(all),
                 by_a = surplus[2 * j] * trigamma(a) - both, by_b = surplus[2 * j + 1] * trigamma(b) - both;
    out[2 * j] = scale_[2 * j] * (a * b / all * (by_a - by_b) - (reached[j] * b - after * a) / all);
    out[2 * j + 1] = scale_[2 * j + 1] * (a * by_a + b * by_b);
  }
}

}  // namespace bnpvi
