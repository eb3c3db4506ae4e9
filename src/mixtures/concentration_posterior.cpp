#include "mixtures/concentration_posterior.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "foundation/log_product.h"
#include "foundation/special.h"

namespace bnpvi::mixtures {

namespace {

constexpr double fall = 28;   // by which the log integrand falls from its mode to either end
constexpr double beyond = 4;  // tolerance of that fall: a guess
constexpr Index factors = 8;  // number of factors, of at least 1e-33, multiplied before a logarithm is taken
constexpr int most_steps = 60;  // of either search: a guess; three to eight were observed

Vec at_least_zero(Vec counts) {
  for (double& n : counts) n = std::max(0.0, n);
  return counts;
}

}  // namespace

Vec counts_after(const Vec& counts) {
  Vec tail(counts.size());
  double after = 0;
  for (std::size_t j = counts.size(); j-- > 0;) {
    tail[j] = after;
    after += counts[j];
  }
  return tail;
}

ConcentrationPosterior::ConcentrationPosterior(const GammaPrior& prior, double discount, const Vec& counts)
    : prior_(prior),
      discount_(discount),
      counts_(at_least_zero(counts)),
      tail_(counts_after(counts_)),
      all_(std::accumulate(counts_.begin(), counts_.end(), 0.0)) {
  place_nodes();
}

ConcentrationPosterior::Point ConcentrationPosterior::at(double t) const {
  const auto [a, b] = prior_;
  const double gamma = a / b * std::exp(t);
  LogProduct product;
  double slope = digamma_difference(1 + gamma, all_);
  for (std::size_t k = 1; k < counts_.size(); ++k) {
    const double free = gamma + static_cast<double>(k) * discount_, x = free + tail_[k - 1];
    product.times(free / x);
    slope += tail_[k - 1] / (free * x);
  }
  return {t, a * (t - std::expm1(t)) + log_gamma_difference(1 + gamma, all_) + product.log(),
          gamma * slope - a * std::expm1(t)};
}

// γ f'(γ) lies between −γ [ψ(1 + N) − ψ(1)] and K − 1, which brackets the mode. Within the bracket, Newton
// steps with the curvature from a difference of slopes; bisections where these fail.
ConcentrationPosterior::Mode ConcentrationPosterior::mode() const {
  const auto [a, b] = prior_;
  const double k = static_cast<double>(counts_.size()), difference = 0.1 / std::sqrt(a + k);
  double low = -std::log1p(-digamma_difference(1, all_) / b), high = std::log1p((k - 1) / a);
  Mode m{at((low + high) / 2), 0};
  for (int step = 0; step < most_steps; ++step) {
    m.curvature = std::max((at(m.top.t - difference).slope - m.top.slope) / difference, 1e-3);
    if (m.top.slope * m.top.slope < 0.02 * m.curvature) break;  // 0.01 from the maximum
    (m.top.slope > 0 ? low : high) = m.top.t;
    const double next = m.top.t + m.top.slope / m.curvature;
    m.top = at(next > low && next < high ? next : (low + high) / 2);
  }
  return m;
}

// The point where the integrand has fallen by `fall` to `fall + beyond`, found by Newton steps along
// tangents, which lie above a concave function. width: the distance of that fall, in standard deviations,
// for a normal curve with the mode's curvature.
double ConcentrationPosterior::end(const Point& top, double width, int side) const {
  double distance = side > 0 ? std::log(1 + width + width * width / 2) : width + width * width / 3;
  for (int step = 0; step < most_steps; ++step) {
    const Point p = at(top.t + side * distance);
    const double short_of = p.value - top.value + fall;
    if (short_of <= 0 && short_of >= -beyond) break;
    const double steps = (short_of + beyond / 2) / std::max(-side * p.slope, 1e-300);
    distance = std::clamp(distance + steps, distance / 2, distance * 2);
  }
  return top.t + side * distance;
}

void ConcentrationPosterior::place_nodes() {
  const auto [a, b] = prior_;
  const auto [top, curvature] = mode();
  const double width = std::sqrt(2 * fall / curvature), unit = 2 / std::sqrt(curvature);
  const double left = std::asinh((end(top, width, -1) - top.t) / unit);
  const double right = std::asinh((end(top, width, 1) - top.t) / unit);
  const double h = (right - left) / (n_nodes - 1);

  Nodes value, spacing, product;
  for (Index i = 0; i < n_nodes; ++i) {
    const double e = std::exp(left + h * static_cast<double>(i)), t = top.t + unit * (e - 1 / e) / 2;
    spacing[i] = h * unit * (e + 1 / e) / 2;
    gamma_[i] = a / b * std::exp(t);
    value[i] = a * (t - std::expm1(t)) + log_gamma_difference(1 + gamma_[i], all_);
  }
  for (std::size_t from = 1; from < counts_.size(); from += factors) {
    product.fill(1);
    for (std::size_t j = from; j < std::min<std::size_t>(counts_.size(), from + factors); ++j) {
      const double shift = static_cast<double>(j) * discount_, after = tail_[j - 1];
      for (Index i = 0; i < n_nodes; ++i) product[i] *= (gamma_[i] + shift) / (gamma_[i] + shift + after);
    }
    for (Index i = 0; i < n_nodes; ++i) value[i] += std::log(product[i]);
  }

  const double most = *std::max_element(value.begin(), value.end());
  double sum = 0;
  for (Index i = 0; i < n_nodes; ++i) sum += probability_[i] = spacing[i] * std::exp(value[i] - most);
  for (double& p : probability_) p /= sum;
  log_integral_ = most + std::log(sum) - stirling_remainder(a);
  for (double n : counts_) log_integral_ -= log_gamma_difference(1 - discount_, n);
}

Vec ConcentrationPosterior::expected_log_weights() const {
  double before = 0;
  for (Index i = 0; i < n_nodes; ++i) before += probability_[i] * digamma(1 + gamma_[i] + all_);
  Vec out(counts_.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    out[k] = digamma(1 - discount_ + counts_[k]) - before;
    const double shift = static_cast<double>(k + 1) * discount_ + tail_[k];
    for (Index i = 0; i < n_nodes; ++i) before += probability_[i] / (gamma_[i] + shift);
  }
  return out;
}

Vec ConcentrationPosterior::mean_weights() const {
  Nodes rest = probability_;
  Vec out(counts_.size() + 1, 0.0);
  for (std::size_t k = 0; k < counts_.size(); ++k) {
    const double in = 1 - discount_ + counts_[k], shift = static_cast<double>(k + 1) * discount_ + tail_[k];
    for (Index i = 0; i < n_nodes; ++i) {
      const double after = gamma_[i] + shift;
      out[k] += rest[i] * in / (in + after);
      rest[i] *= after / (in + after);
    }
  }
  out.back() = std::accumulate(rest.begin(), rest.end(), 0.0);
  return out;
}

double ConcentrationPosterior::mean() const {
  double sum = 0;
  for (Index i = 0; i < n_nodes; ++i) sum += probability_[i] * gamma_[i];
  return sum;
}

}  // namespace bnpvi::mixtures
