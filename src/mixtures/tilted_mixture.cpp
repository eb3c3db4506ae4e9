// Mixtures whose weights depend on covariates.
#include <numeric>

#include "mixtures/mixture.h"
#include "tilt/tilt.h"

namespace bnpvi::mixtures {

namespace {

// The globals store q of the tilt in u.
class TiltedMixture final : public MixtureAlloc {
 public:
  TiltedMixture(TiltPrior prior, Index fixed_k, const Sparsity& sparsity)
      : MixtureAlloc(fixed_k, sparsity, prior.patterns, tilt_width(prior)), prior_(std::move(prior)) {}

  Globals global_step(const Summary& total, const Globals& from) const override {
    return {total, best_tilt(prior_, counts(total), from.u), {}};
  }

  Globals stochastic_step(const Globals& from, const Summary& noisy, double rate) const override {
    Globals out = MixtureAlloc::stochastic_step(from, noisy, rate);
    out.u = best_tilt(prior_, counts(out.effective), from.u);
    return out;
  }

  Vec expected_log_weights(const Vec& counts, Vec* near) const override {
    Vec tilt = near ? rough_tilt(prior_, counts, *near) : best_tilt(prior_, counts, {});
    Vec out = tilt_log_weights(prior_, tilt);
    if (near) *near = std::move(tilt);
    return out;
  }

  Vec joined_search(const Vec& near, Index a, Index b) const override {
    return near.empty() || fixed_k() > 0 ? near : joined_tilt(prior_, near, a, b);
  }

  Vec search_in_order(const Vec& near, const std::vector<Index>& order) const override {
    return near.empty() ? near : tilt_in_order(prior_, near, order);
  }

  Vec log_weights(const Globals& globals) const override { return tilt_log_weights(prior_, tilt(globals)); }

  Terms elbo_terms(const Summary& total, const Globals& globals) const override {
    return {{"allocation", tilt_value(prior_, counts(total), tilt(globals))}, {"entropy", total.entropy()}};
  }

  // Average over the patterns of the rows.
  Vec mean_weights(const Globals& globals) const override {
    const Vec n = counts(globals.effective), share = tilt_shares(prior_, tilt(globals));
    const Index k = globals.effective.k;
    Vec rows(static_cast<std::size_t>(prior_.patterns)), out(static_cast<std::size_t>(k + 1), 0.0);
    for (Index j = 0; j < k; ++j)
      for (Index c = 0; c < prior_.patterns; ++c) rows[c] += n[j * (1 + prior_.patterns) + 1 + c];
    const double all = std::accumulate(rows.begin(), rows.end(), 0.0);
    for (Index c = 0; c < prior_.patterns; ++c)
      for (Index j = 0; j <= k; ++j)
        out[j] +=
            (all > 0 ? rows[c] / all : 1 / static_cast<double>(prior_.patterns)) * share[c * (k + 1) + j];
    return out;
  }

  NamedArrays posterior(const Globals& globals) const override { return tilt_arrays(prior_, tilt(globals)); }

 private:
  Vec tilt(const Globals& globals) const {
    return globals.u.empty() ? best_tilt(prior_, counts(globals.effective), {}) : globals.u;
  }

  const TiltPrior prior_;
};

}  // namespace

std::unique_ptr<AllocModel> make_tilted(TiltPrior prior, Index fixed_k, const Sparsity& sparsity) {
  return std::make_unique<TiltedMixture>(std::move(prior), fixed_k, sparsity);
}

}  // namespace bnpvi::mixtures
