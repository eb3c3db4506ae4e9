#include <cmath>

#include "foundation/special.h"
#include "mixtures/concentration_posterior.h"
#include "mixtures/mixture.h"

namespace bnpvi::mixtures {

namespace {

// Calls f(k, η_k1, η_k0) with η_k1 = 1 − d + N_k and η_k0 = γ + kd + Σ_{l>k} N_l, k from 0, in stick order.
template <class F>
void for_each_stick(double gamma, double discount, const Vec& counts, F f) {
  const Vec tail = counts_after(counts);
  for (std::size_t j = 0; j < counts.size(); ++j)
    f(static_cast<Index>(j), 1 - discount + counts[j],
      gamma + static_cast<double>(j + 1) * discount + tail[j]);
}

class PitmanYor final : public MixtureAlloc {
 public:
  PitmanYor(double concentration, double discount, const Sparsity& sparsity)
      : MixtureAlloc(0, sparsity), gamma_(concentration), discount_(discount) {}

  Vec expected_log_weights(const Vec& counts, Vec*) const override {
    Vec out(counts.size());
    double log_rest = 0;
    for_each_stick(gamma_, discount_, counts, [&](Index j, double a, double b) {
      out[j] = digamma_difference(a, b) + log_rest;
      log_rest += digamma_difference(b, a);
    });
    return out;
  }

  Terms elbo_terms(const Summary& total, const Globals& globals) const override {
    const Vec n = total.sizes(), effective = globals.effective.sizes();
    const Vec tail = counts_after(n);
    double sum = 0;
    for_each_stick(gamma_, discount_, effective, [&](Index j, double a, double b) {
      const double free = gamma_ + static_cast<double>(j + 1) * discount_;
      sum += log_beta(a, b) - log_prior_beta(free) + (1 - discount_ + n[j] - a) * digamma_difference(a, b) +
             (free + tail[j] - b) * digamma_difference(b, a);
    });
    return {{"allocation", sum}, {"entropy", total.entropy()}};
  }

  Vec mean_weights(const Globals& globals) const override {
    Vec out;
    double rest = 1;
    for_each_stick(gamma_, discount_, globals.effective.sizes(), [&](Index, double a, double b) {
      out.push_back(rest * a / (a + b));
      rest *= b / (a + b);
    });
    out.push_back(rest);
    return out;
  }

  NamedArrays posterior(const Globals& globals) const override {
    return {sticks_array(gamma_, discount_, globals.effective.sizes())};
  }

 private:
  // log B(1 − d, x), accurate for the smallest x, too.
  double log_prior_beta(double x) const {
    if (discount_ == 0) return -std::log(x);
    return log_gamma(1 - discount_) - log_gamma_difference(1 - discount_ + x, discount_) - std::log(x);
  }

  double gamma_, discount_;
};

}  // namespace

NamedArray sticks_array(double concentration, double discount, const Vec& counts) {
  const Index k = static_cast<Index>(counts.size());
  NamedArray sticks{"sticks", Vec(static_cast<std::size_t>(2 * k)), {k, 2}};
  for_each_stick(concentration, discount, counts, [&](Index j, double a, double b) {
    sticks.value[j] = a;
    sticks.value[k + j] = b;
  });
  return sticks;
}

std::unique_ptr<AllocModel> make_pitman_yor(double concentration, double discount, const Sparsity& sparsity) {
  return std::make_unique<PitmanYor>(concentration, discount, sparsity);
}

}  // namespace bnpvi::mixtures
