// The Indian buffet process by sticks (Teh, Görür & Ghahramani 2007). L = K + 1 sticks have a q(v_i) =
// Beta(τ_i1, τ_i2) of their own, the last for a feature that no row has; all further sticks stay at their
// prior, and their z are 0. With R(x) = x + log Γ(x) − xψ(x), and E log v, E log(1 − v) under q:
//   L_π = Σ_{i≤L} [R(τ_i1) + R(τ_i2) − R(τ_i1 + τ_i2) + log α + (α + Σ_{k≥i} N_k) E log v_i + E log(1 − v_i)]
//         + Σ_{k≤L} (n − N_k) E log(1 − π_k) − nα E Li₂(π_L);
// the last term is n Σ_{k>L} E log(1 − π_k), because E Π_{L<i≤k} v_i^m = (α/(α+m))^{k−L} sum to α/m. So K may
// change under one objective, a bound on the evidence of the infinite model. With α ~ Gamma(s, rate r) the
// terms of α are those of a Gamma density, and q(α) = Gamma(s + L, r − Σ E log v_i + n E Li₂(π_L)) leaves
//   log Γ(s + L) − (s + L) log(its rate) − log Γ(s) + s log r.
#include <cmath>
#include <limits>
#include <numeric>

#include "features/feature_prior.h"
#include "features/stick_series.h"
#include "foundation/gamma_prior.h"
#include "foundation/lbfgs.h"
#include "foundation/special.h"

#include <optional>

namespace bnpvi::features {

namespace {

double trigamma(double x) { return (1 + trigamma_remainder(x)) / x; }

// L_π, its gradient with respect to log τ, and the quantities needed for both.
class Objective {
 public:
  Objective(const Vec& counts, double n, double alpha, const std::optional<GammaPrior>& prior)
      : n_(n), alpha_(alpha), prior_(prior), absent_(counts), below_(counts) {
    absent_.push_back(0);
    below_.push_back(0);
    for (double& x : absent_) x = std::max(0.0, n - x);
    for (std::size_t i = below_.size() - 1; i-- > 0;) below_[i] += below_[i + 1];
  }

  std::size_t sticks() const { return absent_.size(); }

  // The start of a search: the optimal τ for the bound of Doshi-Velez et al. (2009), in which log(1 − π_k) =
  // log Σ_{y≤k} (1 − v_y) Π_{i<y} v_i is replaced by an average under a multinomial q(y) = q_k.
  Vec start() const {
    const std::size_t l = sticks();
    Vec tau(2 * l);
    std::vector<Vec> q(l);
    for (std::size_t k = 0; k < l; ++k) q[k].assign(k + 1, 1 / static_cast<double>(k + 1));
    for (int round = 0; round < 5; ++round) {
      for (std::size_t k = 0; k < l; ++k) tau[2 * k] = alpha_ + below_[k], tau[2 * k + 1] = 1;
      for (std::size_t m = 0; m < l; ++m) {
        double above = 0;  // Σ_{i>k} q_mi
        for (std::size_t k = m + 1; k-- > 0;) {
          tau[2 * k + 1] += absent_[m] * q[m][k];
          tau[2 * k] += absent_[m] * above;
          above += q[m][k];
        }
      }
      Vec exponent(l);
      double reached = 0;
      for (std::size_t y = 0; y < l; ++y) {
        const double sum = tau[2 * y] + tau[2 * y + 1];
        exponent[y] = digamma(tau[2 * y + 1]) - digamma(sum) + reached;
        reached += digamma(tau[2 * y]) - digamma(sum);
      }
      for (std::size_t k = 0; k < l; ++k) {
        const double top = *std::max_element(exponent.begin(), exponent.begin() + static_cast<Index>(k) + 1);
        double total = 0;
        for (std::size_t y = 0; y <= k; ++y) total += q[k][y] = std::exp(exponent[y] - top);
        for (double& x : q[k]) x /= total;
      }
    }
    return tau;
  }

  RoundedSum operator()(const Vec& log_tau, Vec& gradient) const {
    const std::size_t l = sticks();
    RoundedSum sum;
    Vec tau(2 * l);
    for (std::size_t i = 0; i < 2 * l; ++i) {
      tau[i] = std::exp(log_tau[i]);
      if (!(tau[i] > 1e-100 && tau[i] < 1e15)) sum.add(std::numeric_limits<double>::quiet_NaN());
    }
    if (!std::isfinite(sum.value())) return sum;
    const StickSeries series = stick_series(tau, absent_);
    double log_v = 0;  // Σ E log v_i
    for (std::size_t i = 0; i < l; ++i) log_v += digamma_difference(tau[2 * i], tau[2 * i + 1]);
    const double alpha = mean_alpha(log_v, series.dilogarithm);
    for (std::size_t i = 0; i < l; ++i) {
      const double a = tau[2 * i], b = tau[2 * i + 1], count = below_[i];
      sum.add(log_gamma_remainder(a) + log_gamma_remainder(b) - log_gamma_remainder(a + b));
      sum.add(count * digamma_difference(a, b));
      sum.add(digamma_difference(b, a));
      sum.add(absent_[i] * series.complement[i]);
      const double at_a = trigamma(a), at_b = trigamma(b), at_sum = trigamma(a + b), rest = count + alpha - a;
      gradient[2 * i] = a * (rest * (at_a - at_sum) - (1 - b) * at_sum + series.complement_gradient[2 * i] -
                             n_ * alpha * series.dilogarithm_gradient[2 * i]);
      gradient[2 * i + 1] =
          b * (-rest * at_sum + (1 - b) * (at_b - at_sum) + series.complement_gradient[2 * i + 1] -
               n_ * alpha * series.dilogarithm_gradient[2 * i + 1]);
    }
    if (!prior_) {
      sum.add(static_cast<double>(l) * std::log(alpha_));
      sum.add(alpha_ * log_v);
      sum.add(-n_ * alpha_ * series.dilogarithm);
    } else {
      const double shape = alpha_shape(), rate = alpha_rate(log_v, series.dilogarithm);
      sum.add(log_gamma(shape) - log_gamma(prior_->shape) + prior_->shape * std::log(prior_->rate));
      sum.add(-shape * std::log(rate));
    }
    return sum;
  }

  FeatureWeights result(const Vec& log_tau, double value) const {
    FeatureWeights out;
    out.value = value;
    for (double x : log_tau) out.stick.push_back(std::exp(x));
    const StickSeries series = stick_series(out.stick, absent_);
    double log_v = 0, prob = 1;
    for (std::size_t i = 0; i < sticks(); ++i) {
      const double a = out.stick[2 * i], b = out.stick[2 * i + 1];
      log_v += digamma_difference(a, b);
      prob *= a / (a + b);
      if (i + 1 == sticks()) break;
      out.logit.push_back(log_v - series.complement[i]);
      out.prob.push_back(prob);
    }
    out.alpha = {mean_alpha(log_v, series.dilogarithm)};
    if (prior_) {
      out.alpha.push_back(alpha_shape());
      out.alpha.push_back(alpha_rate(log_v, series.dilogarithm));
    }
    return out;
  }

 private:
  double alpha_shape() const { return prior_->shape + static_cast<double>(sticks()); }
  double alpha_rate(double log_v, double dilogarithm) const {
    return prior_->rate - log_v + n_ * dilogarithm;
  }
  double mean_alpha(double log_v, double dilogarithm) const {
    return prior_ ? alpha_shape() / alpha_rate(log_v, dilogarithm) : alpha_;
  }

  double n_, alpha_;
  std::optional<GammaPrior> prior_;
  Vec absent_;  // n − N_k, with the last, empty stick
  Vec below_;   // Σ_{k≥i} N_k
};

class IndianBuffet final : public FeaturePrior {
 public:
  explicit IndianBuffet(const Vec& alpha) : alpha_(alpha.size() > 1 ? alpha[0] / alpha[1] : alpha.at(0)) {
    if (alpha.size() > 1) prior_ = GammaPrior{alpha[0], alpha[1]};
  }

  FeatureWeights fit(const Vec& counts, double n, const FeatureWeights& warm) const override {
    const Objective objective = objective_of(counts, n, warm);
    Vec best = logs(warm.stick.size() == 2 * objective.sticks() ? warm.stick : objective.start());
    const double value = maximise(std::cref(objective), best);
    return objective.result(best, value);
  }

  double at_least(const Vec& counts, double n, const FeatureWeights& near) const override {
    Vec gradient(near.stick.size());
    return objective_of(counts, n, near)(logs(near.stick), gradient).value();
  }

  Index most() const override { return 0; }
  bool ordered() const override { return true; }

 private:
  Objective objective_of(const Vec& counts, double n, const FeatureWeights& near) const {
    return {counts, n, prior_ && !near.alpha.empty() ? near.alpha[0] : alpha_, prior_};
  }
  static Vec logs(Vec x) {
    for (double& v : x) v = std::log(v);
    return x;
  }

  double alpha_;  // given, or the mean of its prior
  std::optional<GammaPrior> prior_;
};

}  // namespace

std::unique_ptr<FeaturePrior> make_indian_buffet(const Fields& fields) {
  return std::make_unique<IndianBuffet>(fields.numbers("alpha"));
}

}  // namespace bnpvi::features
