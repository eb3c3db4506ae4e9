// Pitman–Yor mixtures whose concentration has a Gamma prior.
#include "mixtures/concentration_posterior.h"
#include "mixtures/mixture.h"

namespace bnpvi::mixtures {

namespace {

class LearnedConcentration final : public MixtureAlloc {
 public:
  LearnedConcentration(const GammaPrior& concentration, double discount, const Sparsity& sparsity)
      : MixtureAlloc(0, sparsity), prior_(concentration), discount_(discount) {}

  Vec expected_log_weights(const Vec& counts, Vec*) const override { return at(counts).expected_log_weights(); }

  Terms elbo_terms(const Summary& total, const Globals& globals) const override {
    const Vec n = total.sizes(), effective = globals.effective.sizes();
    const ConcentrationPosterior q = at(effective);
    double value = q.log_integral();
    if (n != effective) {
      const Vec log_pi = q.expected_log_weights();
      for (std::size_t j = 0; j < n.size(); ++j) value += (n[j] - effective[j]) * log_pi[j];
    }
    return {{"allocation", value}, {"entropy", total.entropy()}};
  }

  Vec mean_weights(const Globals& globals) const override { return at(globals).mean_weights(); }

  NamedArrays posterior(const Globals& globals) const override {
    const ConcentrationPosterior q = at(globals);
    constexpr Index n = ConcentrationPosterior::n_nodes;
    NamedArray nodes{"concentration_nodes", Vec(q.values().begin(), q.values().end()), {n, 2}};
    nodes.value.insert(nodes.value.end(), q.probabilities().begin(), q.probabilities().end());
    return {sticks_array(q.mean(), discount_, globals.effective.sizes()), nodes};
  }

 private:
  ConcentrationPosterior at(const Vec& counts) const { return {prior_, discount_, counts}; }
  ConcentrationPosterior at(const Globals& globals) const { return at(globals.effective.sizes()); }

  GammaPrior prior_;
  double discount_;
};

}  // namespace

std::unique_ptr<AllocModel> make_pitman_yor(const GammaPrior& concentration, double discount,
                                            const Sparsity& sparsity) {
  return std::make_unique<LearnedConcentration>(concentration, discount, sparsity);
}

}  // namespace bnpvi::mixtures
