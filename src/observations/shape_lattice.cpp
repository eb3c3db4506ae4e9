#include "observations/shape_lattice.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "foundation/special.h"

namespace bnpvi {

namespace {

// Shapes from 1e-237 to 2e10: beyond the prior has no mass, or the data no digits.
constexpr double lowest = -6.3, highest = 24;
constexpr double depth = 30;  // points lower than the mode by so much are left out
// The widest step, and how much of a standard deviation it is. Even and odd points are lattices of their own,
// whose error is the root of that of both; where these differ by more, the step is halved: errors of Λ were
// below 1e-11 then (test-shapes-laws.R).
constexpr double widest = 0.3, share_of_spread = 0.55, difference = 2e-6;
constexpr int most_halvings = 4;

double log_shape(double x) { return x - std::exp(-x); }

// The inverse of log_shape(), by Newton's steps: it is concave, so that they come from the left.
double place_of(double log_s) {
  double x = log_s > 1 ? log_s : -std::log1p(std::max(-log_s, 0.0));
  for (int i = 0; i < 30; ++i) {
    const double e = std::exp(-x), next = x - (x - e - log_s) / (1 + e);
    if (std::abs(next - x) < 1e-10) return next;
    x = next;
  }
  return x;
}

}  // namespace

ShapeLattice::ShapeLattice(const GammaPrior& prior, const Evidence& evidence, double n, double start)
    : prior_(prior),
      evidence_(evidence),
      log_constant_(prior.shape * std::log(prior.rate) - log_gamma(prior.shape)) {
  if (std::isnan(start)) {
    double best = -std::numeric_limits<double>::infinity();
    for (double x = -5; x <= 21; ++x)
      if (const double here = height(x); here > best) {
        best = here;
        mode_ = x;
      }
    climb(mode_, 0.5);
  } else {
    climb(std::clamp(place_of(start), -5.0, 21.0), std::clamp(2 / std::sqrt(n + 1), 1e-4, 0.5));
  }
  lay();
}

double ShapeLattice::height(double x) const {
  const double t = log_shape(x), s = std::exp(t);
  const double out = log_constant_ + prior_.shape * t - prior_.rate * s + log_1p_exp(-x) + evidence_(s);
  return std::isnan(out) ? -std::numeric_limits<double>::infinity() : out;
}

// To the mode: uphill with steps that grow, and by the vertex of a parabola with steps that shrink, until
// they are no larger than the standard deviation.
void ShapeLattice::climb(double x, double step) {
  double here = height(x), direction = 0;
  for (int i = 0; i < 200; ++i) {
    const double left = height(x - step), right = height(x + step);
    if (std::max(left, right) > here && x > lowest && x < highest) {
      const double turn = right > left ? 1 : -1;
      x += turn * step;
      here = std::max(left, right);
      step *= turn == direction ? 2 : turn == -direction ? 0.5 : 1;
      direction = turn;
      continue;
    }
    const double bend = 2 * here - left - right;
    if (!(bend > 0) || !std::isfinite(bend)) break;
    spread_ = step / std::sqrt(bend);
    const double vertex = x + 0.5 * step * (right - left) / bend, there = height(vertex);
    if (there > here) {
      x = vertex;
      here = there;
    }
    if (step <= 1.5 * spread_ || step < 1e-6) break;
    step = std::max(step / 4, spread_);
    direction = 0;
  }
  mode_ = x;
  top_ = here;
}

// log Σ exp height of points from, from + by, ...
double ShapeLattice::log_sum(std::size_t from, std::size_t by) const {
  double sum = 0;
  for (std::size_t i = from; i < height_.size(); i += by) sum += std::exp(height_[i] - top_);
  return top_ + std::log(sum);
}

void ShapeLattice::lay() {
  step_ = std::min(widest, share_of_spread * spread_);
  Vec below;
  first_ = mode_;
  for (double x = mode_ - step_; x > lowest; x -= step_) {
    const double here = height(x);
    if (!(here > top_ - depth)) break;
    below.push_back(here);
    first_ = x;
  }
  height_.assign(below.rbegin(), below.rend());
  height_.push_back(top_);
  for (double x = mode_ + step_; x < highest; x += step_) {
    const double here = height(x);
    if (!(here > top_ - depth)) break;
    height_.push_back(here);
  }
  for (int i = 0; i < most_halvings; ++i) {
    if (std::abs(log_sum(0, 2) - log_sum(1, 2)) <= difference) break;
    halve();
  }
  const double total = log_sum(0, 1);
  log_integral_ = total + std::log(step_);
  shape_.resize(height_.size());
  prob_.resize(height_.size());
  for (std::size_t i = 0; i < height_.size(); ++i) {
    shape_[i] = std::exp(log_shape(first_ + static_cast<double>(i) * step_));
    prob_[i] = std::exp(height_[i] - total);
  }
}

void ShapeLattice::halve() {
  step_ /= 2;
  Vec all;
  for (std::size_t i = 0; i < height_.size(); ++i) {
    all.push_back(height_[i]);
    if (i + 1 < height_.size()) all.push_back(height(first_ + static_cast<double>(2 * i + 1) * step_));
  }
  height_.swap(all);
}

double ShapeLattice::draw(Stream& stream) const {
  if (height_.empty()) return shape_.front();
  const double from = first_ + (stream.uniform() - 0.5) * step_;
  Vec weight(height_.size());
  for (std::size_t i = 0; i < weight.size(); ++i)
    weight[i] = std::exp(height(from + static_cast<double>(i) * step_) - top_);
  return std::exp(log_shape(from + static_cast<double>(bnpvi::draw(weight, stream)) * step_));
}

}  // namespace bnpvi
