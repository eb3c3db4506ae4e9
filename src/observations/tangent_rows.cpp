#include "observations/tangent_rows.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "foundation/special.h"
#include "observations/linalg.h"
#include "observations/tangent_visit.h"

namespace bnpvi {

double TangentLayout::shift(Index g) const { return size.empty() ? 0 : -std::log(size[g]); }

double LogisticTerm::log_likelihood(double psi) const {
  return constant + kappa * psi - m * (0.5 * std::abs(psi) + log_1p_exp(-std::abs(psi)));
}

namespace {

// The maximum over z of log p(y | mean + sd z) − z²/2, which is concave, by Newton's method within a
// bracket.
double highest(const LogisticTerm& term, double mean, double sd) {
  const auto slope = [&](double z) {
    return sd * (term.kappa - 0.5 * term.m * std::tanh(0.5 * (mean + sd * z))) - z;
  };
  const double first = slope(0);
  double from = std::min(0.0, first), to = std::max(0.0, first), z = 0;
  for (int round = 0; round < 100 && to - from > 1e-8 * (1 + std::abs(z)); ++round) {
    const double t = std::tanh(0.5 * (mean + sd * z)), s = slope(z);
    (s > 0 ? from : to) = z;
    z += s / (1 + 0.25 * sd * sd * term.m * (1 - t * t));
    if (!(z > from && z < to)) z = 0.5 * (from + to);
  }
  return z;
}

}  // namespace

double logistic_evidence(const LogisticTerm& term, double& mean, double& variance) {
  constexpr double reach = 8.5, widest = 0.5;  // standard deviations; e^(−reach²/2) is 2e-16
  constexpr double enough = 27;  // −log of the error from the distance of poles or a peak's width
  constexpr double most = 2000;  // largest number of nodes
  const double sd = std::sqrt(std::max(variance, 0.0)), pi = std::acos(-1.0);
  if (!(sd > 1e-12)) return term.log_likelihood(mean);
  const double pole = 2 * pi * pi / enough, peak = pi * std::sqrt(2 / enough) * 2 / std::sqrt(1 + term.m);
  const double step = std::max(std::min(widest, std::min(pole, peak) / sd), 2 * reach / most);
  const double middle = highest(term, mean, sd);
  const auto nodes = static_cast<Index>(reach / step);
  Vec log_weight;
  double top = -INFINITY;
  for (Index i = -nodes; i <= nodes; ++i) {
    const double z = middle + static_cast<double>(i) * step;
    log_weight.push_back(term.log_likelihood(mean + sd * z) - 0.5 * z * z);
    top = std::max(top, log_weight.back());
  }
  double sum = 0, first = 0, second = 0;
  for (Index i = -nodes; i <= nodes; ++i) {
    const double z = static_cast<double>(i) * step, w = std::exp(log_weight[i + nodes] - top);
    sum += w;
    first += w * z;
    second += w * z * z;
  }
  first /= sum;
  mean += sd * (middle + first);
  variance *= std::max(second / sum - first * first, 0.0);
  return top + std::log(sum * step) - 0.5 * log_2pi;
}

namespace {

double log_choose(double n, double y) { return log_gamma(n + 1) - log_gamma(y + 1) - log_gamma(n - y + 1); }

}  // namespace

void TangentRows::write(const double* cells, Index stride, double* row) const {
  const bool binomial = layout.size.empty();
  const double y = cells[0], trials = binomial ? (layout.responses == 2 ? y + cells[stride] : 1) : 0;
  const double* at = cells + layout.responses * stride;
  row[0] = 1;
  row[1] = y;
  row[2] = trials;
  row[3] = 0;
  if (layout.has_offset) {
    row[3] = *at;
    at += stride;
  }
  if (binomial) row[4] = trials <= 1 ? 0 : log_choose(trials, y);
  for (Index g = 0; g < layout.sizes() && !binomial; ++g)
    row[4 + g] = -log_gamma_difference(layout.size[g], y) - log_gamma(y + 1);
  double* x = row + regressors;
  if (layout.intercept) *x++ = 1;
  for (std::size_t j = 0; j < layout.unit.size(); ++j, at += stride)
    x[j] = (*at - layout.centre[j]) / layout.unit[j];
}

namespace {

class TangentPattern final : public MissingPattern {
 public:
  TangentPattern(const TangentLayout& layout, Index rows, const TangentPredictive& predictive)
      : layout_(layout),
        rows_of_(layout),
        weights_(layout),
        rows_(rows),
        predictive_(predictive),
        visit_(rows_of_, rows) {}

  Index n_features() const override { return rows_ * rows_of_.width; }
  Index n_weights() const override { return weights_.all; }

  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    visit_.forget_rows();
    const Index d = layout_.columns();
    for (Index i = 0; i < n && !layout_.individuals; ++i)
      rows_of_.write(data.dense + rows[i], data.n, phi + i * ld);
    for (Index i = 0; i < n && layout_.individuals; ++i)
      for (Index l = 0; l < rows_; ++l)
        rows_of_.write(data.value + data.row_start[rows[i]] + l * d, 1, phi + i * ld + l * rows_of_.width);
  }

  // A size without weight, as occurs at a point estimate, gets the tangents of the most probable size.
  void weights(const double* w, double* reduced) const override {
    Index best = 0;
    for (Index g = 1; g < layout_.sizes(); ++g)
      if (w[layout_.constant(g)] > w[layout_.constant(best)]) best = g;
    reduced[0] = w[0];
    reduced[weights_.curved] = w[layout_.curvature(0)];
    for (Index g = 0; g < layout_.sizes(); ++g) {
      double* own = reduced + weights_.of(g);
      const Index from = w[layout_.constant(g)] > 0 ? g : best;
      const double q = w[layout_.constant(from)], share = q > 0 ? 1 / q : 0;
      own[0] = w[layout_.constant(g)];
      for (Index j = 0; j < layout_.regressors(); ++j)
        own[weights_.mean + j] = w[layout_.linear(from) + j] * share;
      for (Index j = 0; j < layout_.squares(); ++j)
        own[weights_.second + j] = -2 * w[layout_.quadratic(from) + j] * share;
    }
  }

  void products(Index n, const double* phi, Index k, const double* reduced, double* out) const override {
    visit_.log_likelihoods(n, phi, k, reduced, out);
  }

  void expand(const double*, const double*, double*) const override {
    throw std::logic_error("internal error: rows with tangents are not linear");
  }

  void add(Index n, const double* phi, Index k, const double* r, const double* const* w,
           double* const* t) const override {
    Vec reduced(static_cast<std::size_t>(k * n_weights()));
    for (Index j = 0; j < k; ++j) weights(w[j], reduced.data() + j * n_weights());
    visit_.add(n, phi, k, r, reduced.data(), t);
  }

  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override {
    for (Index i = 0; i < n; ++i) out[i] = predictive_.predictive(t, phi + i * ld, rows_);
  }

 private:
  const TangentLayout& layout_;
  TangentRows rows_of_;
  TangentWeights weights_;
  Index rows_;
  const TangentPredictive& predictive_;
  mutable TangentVisit visit_;  // of the rows of one block, and so of one thread
};

}  // namespace

std::unique_ptr<const MissingPattern> make_tangent_pattern(const TangentLayout& layout, Index rows,
                                                           const TangentPredictive& predictive) {
  return std::make_unique<TangentPattern>(layout, rows, predictive);
}

}  // namespace bnpvi
