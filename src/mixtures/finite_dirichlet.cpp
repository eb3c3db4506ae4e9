#include <numeric>

#include "foundation/special.h"
#include "mixtures/mixture.h"

namespace bnpvi::mixtures {

namespace {

class FiniteDirichlet final : public MixtureAlloc {
 public:
  FiniteDirichlet(Index k, double concentration, const Sparsity& sparsity)
      : MixtureAlloc(k, sparsity), concentration_(concentration) {}

  Vec expected_log_weights(const Vec& counts, Vec*) const override {
    Vec out(counts.size());
    const double each = share(counts), all = digamma(sum(counts));
    for (std::size_t j = 0; j < counts.size(); ++j) out[j] = digamma(each + counts[j]) - all;
    return out;
  }

  Terms elbo_terms(const Summary& total, const Globals& globals) const override {
    const Vec n = total.sizes(), effective = globals.effective.sizes();
    const Vec log_pi = expected_log_weights(effective, nullptr);
    const double each = share(n), counted = std::accumulate(effective.begin(), effective.end(), 0.0);
    double value = log_gamma_difference(each * static_cast<double>(n.size()), counted);
    for (std::size_t j = 0; j < n.size(); ++j)
      value += (n[j] - effective[j]) * log_pi[j] - log_gamma_difference(each, effective[j]);
    return {{"allocation", value}, {"entropy", total.entropy()}};
  }

  Vec mean_weights(const Globals& globals) const override {
    Vec out = globals.effective.sizes();
    const double each = share(out), all = sum(out);
    for (double& x : out) x = (x + each) / all;
    out.push_back(0);
    return out;
  }

  NamedArrays posterior(const Globals& globals) const override {
    NamedArray weights{"weights_concentration", globals.effective.sizes(), {}};
    const double each = share(weights.value);
    for (double& x : weights.value) x += each;
    return {weights};
  }

 private:
  // γ divided by the number of counts: K, or fewer after clusters have been joined.
  double share(const Vec& counts) const { return concentration_ / static_cast<double>(counts.size()); }

  // Σ_k (N_k + γ/K)
  double sum(const Vec& counts) const {
    const double each = share(counts);
    double s = 0;
    for (double n : counts) s += n + each;
    return s;
  }

  double concentration_;
};

}  // namespace

std::unique_ptr<AllocModel> make_dirichlet(Index k, double concentration, const Sparsity& sparsity) {
  return std::make_unique<FiniteDirichlet>(k, concentration, sparsity);
}

}  // namespace bnpvi::mixtures
