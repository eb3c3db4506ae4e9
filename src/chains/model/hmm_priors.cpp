// The two priors of transition rows: a shared infinite vector of weights, or known equal weights.
#include <cmath>
#include <utility>

#include "chains/model/hmm.h"
#include "foundation/special.h"
#include "hdp/dirichlet_rows.h"

namespace bnpvi::chains {

namespace {

// Σ_j {Σ_k log Γ(θ̂_jk) − log Γ(Σ_k θ̂_jk)} as a function of π, at θ̂_jk = M_jk + κδ_jk + α_jπ_k; its gradient
// in π is Σ_j α_j E log π_jk.
class ProfiledRows {
 public:
  /// counts: M_jk + κδ_jk, of the remainder 0.
  ProfiledRows(TransitionRows counts, const HmmPrior& prior) : counts_(std::move(counts)), theta_(counts_) {
    const Vec sums = counts_.sums();
    for (Index row = 0; row < counts_.n(); ++row) {
      concentration_.push_back(row == 0 ? prior.start.value : prior.alpha.value);
      normaliser_.add(-log_gamma(sums[row] + concentration_[row]));
      digamma_of_sum_.push_back(digamma(sums[row] + concentration_[row]));
    }
  }

  /// The derivatives are added to by_pi, if there is one.
  RoundedSum value(const Vec& pi, Vec* by_pi) {
    const Index width = counts_.width;
    for (Index row = 0; row < counts_.n(); ++row)
      for (Index j = 0; j < width; ++j)
        theta_.theta[row * width + j] = counts_.theta[row * width + j] + concentration_[row] * pi[j];
    RoundedSum sum = normaliser_;
    sum.add(sum_of_log_gammas(theta_));
    if (!by_pi) return sum;
    const Vec logs = digammas(theta_);
    for (Index row = 0; row < counts_.n(); ++row)
      for (Index j = 0; j < width; ++j)
        (*by_pi)[j] += concentration_[row] * (logs[row * width + j] - digamma_of_sum_[row]);
    return sum;
  }

 private:
  const TransitionRows counts_;
  TransitionRows theta_;
  Vec concentration_, digamma_of_sum_;  // of each row
  RoundedSum normaliser_;
};

// Sticky rows are bounded without E log π of their own cluster (hdp/dirichlet_rows.h). With P positions,
// counting log u_k and log(1 − u_k) over the start row and PK such rows leaves c1 = J + 1 and c0_k = J(K + 1
// − k) + P + γ, J = P(K − 1) + 1: each π_k is in J rows, the remainder π_{K+1} in P more, which are all.
class HdpHmm final : public HmmAlloc {
 public:
  HdpHmm(const HmmPrior& prior, const TopConcentration& gamma, RowBound bound, const Sparsity& sparsity)
      : HmmAlloc(0, prior, sparsity), gamma_(gamma), bound_(bound) {}

  // θ̂ is optimal for each π(û), so û and ω̂ are found with θ̂ profiled out.
  Globals global_step(const Summary& total, const Globals& from) const override {
    const HdpSticks start = static_cast<Index>(from.u.size()) == total.k
                                ? HdpSticks{from.u, from.omega}
                                : closed_form(top(total.k, gamma_.mean()));
    const WeightMoments first = weight_moments(start);
    const double gamma = gamma_.at(first);
    DirichletRows rows = rows_of(total.k);
    rows.choose(first);
    ProfiledRows profiled(this->rows(total, Vec(static_cast<std::size_t>(total.k + 1), 0.0)), prior_);
    const auto value = [&](const WeightMoments& pi, WeightMoments* gradient) {
      RoundedSum sum = rows.value(pi, gradient);
      sum.add(gamma_.beyond(gamma, pi, gradient));
      sum.add(profiled.value(pi.mean, gradient ? &gradient->mean : nullptr));
      return sum;
    };
    HdpSticks q = maximise_sticks(top(total.k, gamma), value, start);
    return {total, std::move(q.u), std::move(q.omega)};
  }

  Terms elbo_terms(const Summary& total, const Globals& globals) const override {
    const double k = static_cast<double>(total.k);
    const WeightMoments pi = weight_moments({globals.u, globals.omega});
    DirichletRows rows = rows_of(total.k);
    rows.choose(pi);
    const double gamma = gamma_.at(pi);
    const double sticks = k * std::log(prior_.start.value) +
                          positions() * k * k * std::log(prior_.alpha.value) +
                          top_value(top(total.k, gamma), {globals.u, globals.omega}).term() +
                          rows.value(pi, nullptr).term() + gamma_.beyond(gamma, pi, nullptr).term();
    return {{"transitions", transition_value(total, globals).term()},
            {"sticks", sticks},
            {"entropy", total.entropy()}};
  }

  Vec mean_weights(const Globals& globals) const override { return weights_from_sticks(globals.u); }

  NamedArrays posterior(const Globals& globals) const override {
    NamedArrays out = HmmAlloc::posterior(globals);
    gamma_.add_posterior({globals.u, globals.omega}, out);
    return out;
  }

 protected:
  Vec weights(const Globals& globals) const override { return weights_from_sticks(globals.u); }

  std::unique_ptr<HmmAlloc> with(const HmmPrior& prior) const override {
    return std::make_unique<HdpHmm>(prior, gamma_, bound_, sparsity_);
  }

  void add_normalisers(Index states, const WeightMoments& pi, bool start, RoundedSum& to) const override {
    const double k = static_cast<double>(states), n = start ? 1 : positions() * k;
    DirichletRows rows(bound_);
    add_rows(rows, states, start);
    rows.choose(pi);
    to.add(rows.value(pi, nullptr));
    to.add(n * k * std::log(start ? prior_.start.value : prior_.alpha.value));
  }

 private:
  TopLevel top(Index k, double gamma) const {
    const double states = static_cast<double>(prior_.sticky.value > 0 ? k - 1 : k);
    TopLevel out = top_level(k, positions() * states + 1, gamma);
    if (prior_.sticky.value > 0)
      for (double& c : out.c0) c += positions();
    return out;
  }

  DirichletRows rows_of(Index k) const {
    DirichletRows rows(bound_);
    add_rows(rows, k, true);
    add_rows(rows, k, false);
    return rows;
  }

  // The start row, or the transition rows.
  void add_rows(DirichletRows& rows, Index k, bool start) const {
    if (start)
      rows.add_plain(1, prior_.start.value);
    else if (prior_.sticky.value > 0)
      for (Index p = 0; p < prior_.positions; ++p)
        rows.add_sticky(k, prior_.alpha.value, prior_.sticky.value);
    else
      rows.add_plain(positions() * static_cast<double>(k), prior_.alpha.value);
  }

  double positions() const { return static_cast<double>(prior_.positions); }

  TopConcentration gamma_;
  RowBound bound_;
};

class FiniteHmm final : public HmmAlloc {
 public:
  FiniteHmm(const HmmPrior& prior, Index k, const Sparsity& sparsity) : HmmAlloc(k, prior, sparsity) {}

  Globals global_step(const Summary& total, const Globals&) const override { return {total, {}, {}}; }

  Terms elbo_terms(const Summary& total, const Globals& globals) const override {
    RoundedSum value = transition_value(total, globals);
    for (bool start : {true, false}) add_normalisers(total.k, {}, start, value);
    return {{"transitions", value.term()}, {"entropy", total.entropy()}};
  }

  Vec mean_weights(const Globals& globals) const override { return weights(globals); }

 protected:
  Vec weights(const Globals& globals) const override {
    const Index k = globals.effective.k;
    return Vec(static_cast<std::size_t>(k), 1 / static_cast<double>(k));
  }

  std::unique_ptr<HmmAlloc> with(const HmmPrior& prior) const override {
    return std::make_unique<FiniteHmm>(prior, fixed_k(), sparsity_);
  }

  void add_normalisers(Index states, const WeightMoments&, bool start, RoundedSum& to) const override {
    if (prior_.pattern) return add_pattern(states, start, to);
    const double k = static_cast<double>(states);
    const double all = start ? prior_.start.value : prior_.alpha.value, own = start ? 0 : prior_.sticky.value;
    for (Index row = 0; row < (start ? 1 : prior_.positions * states); ++row) {
      to.add(log_gamma(all + own));
      to.add(-log_gamma(all / k + own));
      to.add(-(k - 1) * log_gamma(all / k));
    }
  }

 private:
  void add_pattern(Index states, bool start, RoundedSum& to) const {
    const double share = 1 / static_cast<double>(states);
    const TransitionRows prior =
        rows(Summary({1, 1, prior_.positions, 1}, states), Vec(static_cast<std::size_t>(states), share));
    const Vec sums = prior.sums();
    for (Index row = start ? 0 : 1; row < (start ? 1 : prior.n()); ++row) {
      if (sums[row] > 0) to.add(log_gamma(sums[row]));
      for (Index j = 0; j < states; ++j)
        if (prior.row(row)[j] > 0) to.add(-log_gamma(prior.row(row)[j]));
    }
  }
};

}  // namespace

std::unique_ptr<AllocModel> make_hdp_hmm(const HmmPrior& prior, const TopConcentration& gamma, RowBound bound,
                                         const Sparsity& sparsity) {
  return std::make_unique<HdpHmm>(prior, gamma, bound, sparsity);
}

std::unique_ptr<AllocModel> make_hmm(const HmmPrior& prior, Index k, const Sparsity& sparsity) {
  return std::make_unique<FiniteHmm>(prior, k, sparsity);
}

}  // namespace bnpvi::chains
