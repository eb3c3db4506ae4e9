#include <cmath>

#include "foundation/special.h"
#include "mixtures/mixture.h"

namespace bnpvi::mixtures {

namespace {

class DirichletProcess final : public MixtureAlloc {
 public:
  DirichletProcess(double concentration, const Sparsity& sparsity)
      : MixtureAlloc(sparsity), gamma_(concentration) {}

  bool ordered() const override { return true; }

  Vec expected_log_weights(const Vec& counts) const override {
    Vec out(counts.size());
    double log_rest = 0;
    for_each_stick(counts, [&](Index j, double a, double b) {
      out[j] = digamma_difference(a, b) + log_rest;
      log_rest += digamma_difference(b, a);
    });
    return out;
  }

  Terms elbo_terms(const Summary& total, const Globals& globals) const override {
    const Vec n = total.sizes(), effective = globals.effective.sizes();
    const Vec tail = counts_after(n);
    double sum = 0;
    for_each_stick(effective, [&](Index j, double a, double b) {
      sum += log_beta(a, b) + std::log(gamma_) + (1 + n[j] - a) * digamma_difference(a, b) +
             (gamma_ + tail[j] - b) * digamma_difference(b, a);
    });
    return {{"allocation", sum}, {"entropy", total.entropy()}};
  }

  Vec mean_weights(const Globals& globals) const override {
    Vec out;
    double rest = 1;
    for_each_stick(globals.effective.sizes(), [&](Index, double a, double b) {
      out.push_back(rest * a / (a + b));
      rest *= b / (a + b);
    });
    out.push_back(rest);
    return out;
  }

  NamedArrays posterior(const Globals& globals) const override {
    const Index k = globals.effective.k;
    NamedArray sticks{"sticks", Vec(static_cast<std::size_t>(2 * k)), {k, 2}};
    for_each_stick(globals.effective.sizes(), [&](Index j, double a, double b) {
      sticks.value[j] = a;
      sticks.value[k + j] = b;
    });
    return {sticks};
  }

 private:
  // Calls f(k, η_k1, η_k0) with η_k1 = 1 + N_k and η_k0 = γ + Σ_{l>k} N_l, in stick order.
  template <class F>
  void for_each_stick(const Vec& counts, F f) const {
    const Vec tail = counts_after(counts);
    for (std::size_t j = 0; j < counts.size(); ++j) f(static_cast<Index>(j), 1 + counts[j], gamma_ + tail[j]);
  }

  // Σ_{l>k} N_l for every k.
  static Vec counts_after(const Vec& counts) {
    Vec tail(counts.size());
    double after = 0;
    for (std::size_t j = counts.size(); j-- > 0;) {
      tail[j] = after;
      after += counts[j];
    }
    return tail;
  }

  double gamma_;
};

}  // namespace

std::unique_ptr<AllocModel> make_dp(double concentration, const Sparsity& sparsity) {
  return std::make_unique<DirichletProcess>(concentration, sparsity);
}

}  // namespace bnpvi::mixtures
