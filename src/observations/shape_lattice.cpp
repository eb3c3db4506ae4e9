#include "observations/shape_lattice.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "foundation/special.h"

namespace bnpvi {

namespace {

// Shapes from 1e-237 to 2e10. Outside this range the prior has no mass, or the data have no digits.
constexpr double lowest = -6.3, highest = 24;
constexpr double depth = 30;  // points lower than the mode by this are left out
// The widest step, and the step in standard deviations. Even and odd points form two lattices, whose
// difference is about the square root of the error of both together; if they differ by more than
// `difference`, the step is halved. Errors of Λ were then below 1e-11 (test-learned-shapes.R).
constexpr double widest = 0.3, share_of_spread = 0.55, difference = 2e-6;
constexpr int most_halvings = 4;
// A peak that is much narrower than the mass around it would take points without end: beyond `most_points`
// the step is doubled. Posteriors take fewer than 100 points. `narrowest` is the step that doubling starts
// from at the least.
constexpr std::size_t most_points = 1000;
constexpr double narrowest = 1e-9;
// With FewPoints: errors of Λ were below 0.05 (test-learned-shapes.R).
constexpr double few_depth = 10, few_widest = 0.8, few_share = 1.3, few_between = 2;

double log_shape(double x) { return x - std::exp(-x); }

// The inverse of log_shape(), by Newton's method; the function is concave, so that the iterates come from
// the left.
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

double log_best_shape(double delta) {
  if (!(delta > 1e-14)) return std::numeric_limits<double>::quiet_NaN();
  return std::log((3 - delta + std::sqrt((delta - 3) * (delta - 3) + 24 * delta)) / (12 * delta));
}

ShapeLattice::ShapeLattice(const GammaPrior& prior, const Evidence& evidence, double n, double start)
    : prior_(prior),
      evidence_(evidence),
      log_constant_(prior.shape * std::log(prior.rate) - log_gamma(prior.shape)) {
  FewPoints::count_integral();
  if (std::isnan(start)) {
    double best = -std::numeric_limits<double>::infinity();
    for (double x = -5; x <= 21; x += FewPoints::now() ? few_between : 1)
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
  double s;
  return height(x, &s);
}

double ShapeLattice::height(double x, double* s) const {
  const double e = std::exp(-x), t = x - e;
  *s = std::exp(t);
  const double out = log_constant_ + prior_.shape * t - prior_.rate * *s + std::log1p(e) + evidence_(*s);
  return std::isnan(out) ? -std::numeric_limits<double>::infinity() : out;
}

// Finds the mode: uphill with growing steps, then by the vertex of a parabola with shrinking steps, until
// these are no larger than the standard deviation. A step to where the height is not finite is too long.
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
    if (!std::isfinite(bend) && step > 1e-6) {
      step /= 4;
      direction = 0;
      continue;
    }
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

void ShapeLattice::lay() {
  const bool few = FewPoints::now();
  step_ = few ? std::min(few_widest, few_share * spread_) : std::min(widest, share_of_spread * spread_);
  for (step_ = std::max(step_, narrowest); !place_points(few ? few_depth : depth);) step_ *= 2;
  weigh(few ? 0 : most_halvings);
}

bool ShapeLattice::place_points(double deep) {
  Vec below, shape_below;
  const auto room = [&] { return below.size() + height_.size() < most_points; };
  height_.clear();
  shape_.clear();
  const auto add = [this, deep](double x, Vec& height, Vec& shape) {
    double s;
    const double here = this->height(x, &s);
    if (!(here > top_ - deep)) return false;
    height.push_back(here);
    shape.push_back(s);
    return true;
  };
  first_ = mode_;
  for (double x = mode_ - step_; x > lowest && room() && add(x, below, shape_below); x -= step_) first_ = x;
  height_.assign(below.rbegin(), below.rend());
  shape_.assign(shape_below.rbegin(), shape_below.rend());
  height_.push_back(top_);
  shape_.push_back(std::exp(log_shape(mode_)));
  below.clear();
  for (double x = mode_ + step_; x < highest && room() && add(x, height_, shape_); x += step_) {
  }
  return room();
}

void ShapeLattice::weigh(int halvings) {
  double even = 0, odd = 0;
  const auto sum_up = [&] {
    prob_.resize(height_.size());
    even = odd = 0;
    for (std::size_t i = 0; i < height_.size(); ++i) {
      prob_[i] = std::exp(height_[i] - top_);
      (i % 2 ? odd : even) += prob_[i];
    }
  };
  sum_up();
  for (int i = 0; i < halvings && !(std::abs(even - odd) <= difference * std::min(even, odd)); ++i) {
    halve();
    sum_up();
  }
  const double total = even + odd;
  log_integral_ = top_ + std::log(total * step_);
  for (double& v : prob_) v /= total;
}

void ShapeLattice::halve() {
  step_ /= 2;
  Vec height, shape;
  for (std::size_t i = 0; i < height_.size(); ++i) {
    height.push_back(height_[i]);
    shape.push_back(shape_[i]);
    if (i + 1 == height_.size()) break;
    double s;
    height.push_back(this->height(first_ + static_cast<double>(2 * i + 1) * step_, &s));
    shape.push_back(s);
  }
  height_.swap(height);
  shape_.swap(shape);
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
