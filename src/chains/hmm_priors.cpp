// The two priors of transition rows: a shared infinite vector of weights, or known equal weights.
#include <cmath>

#include "chains/hmm.h"
#include "foundation/special.h"
#include "hdp/sticks.h"

namespace bnpvi::chains {

namespace {

// The sticky bound for row k [Hughes 2016, §6.2.3], c the cumulant of a Dirichlet:
//   c(απ + κδ_k) ≥ K log α − log(α + κ) + log κ + (log(α + κ) − log κ) π_k + Σ_{l≠k, l≤K+1} log π_l.
// Counting log u_k and log(1 − u_k) over the start row and K such rows leaves c1 = K + 1 and
// c0_k = K(K + 1 − k) + 1 + γ, for the remainder π_{K+1} is in all K + 1 rows but each π_k in K only.
class HdpHmm final : public HmmAlloc {
 public:
  HdpHmm(const HmmPrior& prior, double gamma, const Sparsity& sparsity)
      : HmmAlloc(prior, sparsity), gamma_(gamma) {}

  bool ordered() const override { return true; }

  // θ̂ is optimal for each π(û), so û and ω̂ are found with θ̂ profiled out: the value is
  // Σ_j {Σ_k log Γ(M_jk + α_jπ_k + κδ_jk) − log Γ(·)}, with gradient Σ_j α_j E log π_jk, plus the top level.
  Globals global_step(const Summary& total, const Globals& from) const override {
    const auto value = [&](const Vec& pi, Vec& gradient) {
      RoundedSum sum;
      sum.add(sticky_value(pi));
      for (Index j = 0; j < total.k; ++j) gradient[j] = sticky_slope();
      for (Index row = 0; row <= total.k; ++row) {
        const double c = concentration(row);
        double all = c + (row > 0 ? prior_.sticky : 0);
        for (Index j = 0; j < total.k; ++j) all += transition_count(total, row, j);
        sum.add(-log_gamma(all));
        const double log_all = digamma(all);
        for (Index j = 0; j <= total.k; ++j) {
          const double theta = c * pi[j] + (j < total.k ? transition_count(total, row, j) : 0) +
                               (j == row - 1 ? prior_.sticky : 0);
          sum.add(log_gamma(theta));
          gradient[j] += c * (digamma(theta) - log_all);
        }
      }
      return sum;
    };
    HdpSticks q = maximise_sticks(top(total.k), value, {from.u, from.omega});
    return {total, std::move(q.u), std::move(q.omega)};
  }

  Terms elbo_terms(const Summary& total, const Globals& globals) const override {
    const double k = static_cast<double>(total.k);
    const double constant = k * std::log(prior_.start) + k * k * std::log(prior_.alpha) - k * sticky_slope();
    const double sticks = constant + top_value(top(total.k), {globals.u, globals.omega}).term() +
                          sticky_value(weights_from_sticks(globals.u));
    return {{"transitions", transition_value(total, globals).term()},
            {"sticks", sticks},
            {"entropy", total.entropy()}};
  }

  Vec mean_weights(const Globals& globals) const override { return weights_from_sticks(globals.u); }

 protected:
  Vec weights(const Globals& globals) const override { return weights_from_sticks(globals.u); }

 private:
  TopLevel top(Index k) const {
    const double groups = static_cast<double>(prior_.sticky > 0 ? k : k + 1);
    TopLevel out = top_level(k, groups, gamma_);
    if (prior_.sticky > 0)
      for (double& c : out.c0) c += 1;
    return out;
  }

  // log(α + κ) − log κ, 0 without κ
  double sticky_slope() const {
    if (prior_.sticky == 0) return 0;
    if (prior_.sticky > prior_.alpha) return std::log1p(prior_.alpha / prior_.sticky);
    return std::log(prior_.alpha + prior_.sticky) - std::log(prior_.sticky);
  }
  double sticky_value(const Vec& pi) const { return sticky_slope() * (1 - pi.back()); }

  double gamma_;
};

class FiniteHmm final : public HmmAlloc {
 public:
  FiniteHmm(const HmmPrior& prior, Index k, const Sparsity& sparsity) : HmmAlloc(prior, sparsity), k_(k) {}

  Index fixed_k() const override { return k_; }
  bool ordered() const override { return false; }

  Globals global_step(const Summary& total, const Globals&) const override { return {total, {}, {}}; }

  Terms elbo_terms(const Summary& total, const Globals& globals) const override {
    RoundedSum value = transition_value(total, globals);
    for (Index row = 0; row <= total.k; ++row) {
      const double each = concentration(row) / static_cast<double>(total.k);
      const double own = row > 0 ? prior_.sticky : 0;
      value.add(log_gamma(concentration(row) + own));
      value.add(-log_gamma(each + own));
      value.add(-static_cast<double>(total.k - 1) * log_gamma(each));
    }
    return {{"transitions", value.term()}, {"entropy", total.entropy()}};
  }

  Vec mean_weights(const Globals& globals) const override { return weights(globals); }

 protected:
  Vec weights(const Globals& globals) const override {
    const Index k = globals.effective.k;
    return Vec(static_cast<std::size_t>(k), 1 / static_cast<double>(k));
  }

 private:
  Index k_;
};

}  // namespace

std::unique_ptr<AllocModel> make_hdp_hmm(const HmmPrior& prior, double gamma, const Sparsity& sparsity) {
  return std::make_unique<HdpHmm>(prior, gamma, sparsity);
}

std::unique_ptr<AllocModel> make_hmm(const HmmPrior& prior, Index k, const Sparsity& sparsity) {
  return std::make_unique<FiniteHmm>(prior, k, sparsity);
}

}  // namespace bnpvi::chains
