// The two priors of transition rows: a shared infinite vector of weights, or known equal weights.
#include <cmath>
#include <numeric>
#include <utility>

#include "chains/model/hmm.h"
#include "foundation/special.h"
#include "hdp/dirichlet_rows.h"
#include "inference/learn/state.h"

namespace bnpvi::chains {

namespace {

// Limits of alternating updates of tilted rows and sticks: guesses.
constexpr int most_rounds = 50;
constexpr double least_gain = 1e-10, least_share = 1e-8;
constexpr double least_gain_on = 1e-7;  // for each row, of updates that go on from earlier ones
constexpr double least_move =
    1e-4;  // of the logarithm of a weight of the sticks that rows are found for again

// Σ_j {Σ_k log Γ(θ̂_jk) − log Γ(Σ_k θ̂_jk)} as a function of π, with θ̂_jk = M_jk + κδ_jk + α_jπ_k; its gradient
// in π is Σ_j α_j E log π_jk. With a tilt the optimal θ̂_jk may be below the prior's α_jπ_k, so that M_jk +
// κδ_jk is negative. Then θ̂_jk = f α_jπ_k with the fraction f at the present π held fixed, and the term is
// log Γ(θ̂_jk) / f, which has the same gradient.
class ProfiledRows {
 public:
  /// counts: M_jk + κδ_jk; 0 for the remainder.
  ProfiledRows(TransitionRows counts, const HmmPrior& prior, const Vec& present)
      : counts_(std::move(counts)), theta_(counts_) {
    const Vec sums = counts_.sums();
    for (Index row = 0; row < counts_.n(); ++row) {
      concentration_.push_back(row == 0 ? prior.start.value : prior.alpha.value);
      normaliser_.add(-log_gamma(sums[row] + concentration_[row]));
      digamma_of_sum_.push_back(digamma(sums[row] + concentration_[row]));
    }
    for (Index i = 0; i < static_cast<Index>(counts_.theta.size()); ++i) {
      const double usual = concentration_[i / counts_.width] * present[i % counts_.width];
      if (counts_.theta[i] < -least_share * usual)
        shares_.push_back({i, 1 + counts_.theta[i] / usual});
      else
        counts_.theta[i] = std::max(counts_.theta[i], 0.0);
    }
  }

  /// Adds the derivatives to by_pi, unless it is null.
  RoundedSum value(const Vec& pi, Vec* by_pi) {
    const Index width = counts_.width;
    for (Index row = 0; row < counts_.n(); ++row)
      for (Index j = 0; j < width; ++j)
        theta_.theta[row * width + j] = counts_.theta[row * width + j] + concentration_[row] * pi[j];
    for (const auto& [i, share] : shares_) theta_.theta[i] = 1;  // log Γ(1) = 0
    RoundedSum sum = normaliser_;
    sum.add(sum_of_log_gammas(theta_));
    for (const auto& [i, share] : shares_)
      sum.add(log_gamma(share * concentration_[i / width] * pi[i % width]) / share);
    if (!by_pi) return sum;
    Vec logs = digammas(theta_);
    for (const auto& [i, share] : shares_)
      logs[i] = digamma(share * concentration_[i / width] * pi[i % width]);
    for (Index row = 0; row < counts_.n(); ++row)
      for (Index j = 0; j < width; ++j)
        (*by_pi)[j] += concentration_[row] * (logs[row * width + j] - digamma_of_sum_[row]);
    return sum;
  }

 private:
  TransitionRows counts_;
  TransitionRows theta_;
  Vec concentration_, digamma_of_sum_;            // one number for each row
  std::vector<std::pair<Index, double>> shares_;  // f of cells where θ̂ is below the prior
  RoundedSum normaliser_;
};

// Sticky rows are bounded without E log π of their own cluster (hdp/dirichlet_rows.h). With P positions there
// are PK such rows and the start row. The coefficients of log u_k and log(1 − u_k) summed over all of them
// are c1 = J + 1 and c0_k = J(K + 1 − k) + P + γ, with J = P(K − 1) + 1: each π_k occurs in J rows, and the
// remainder π_{K+1} in all J + P rows.
class HdpHmm final : public HmmAlloc {
 public:
  HdpHmm(const HmmPrior& prior, const TopConcentration& gamma, RowBound bound, const Sparsity& sparsity)
      : HmmAlloc(0, prior, sparsity), gamma_(gamma), bound_(bound) {}

  Globals global_step(const Summary& total, const Globals& from) const override {
    const bool begun = static_cast<Index>(from.omega.size()) == total.k;
    const HdpSticks start = begun ? sticks(from) : closed_form(top(total.k, gamma_.mean()));
    if (begun && prior_.tilt && prior_.tilt->any()) return tilted_step(total, start, tilts(from));
    const HdpSticks found = best_sticks(rows(total, Vec(static_cast<std::size_t>(total.k + 1), 0.0)), start);
    return prior_.tilt ? tilted_step(total, found, {}) : with_tilts(total, found, {});
  }

  Terms elbo_terms(const Summary& total, const Globals& globals) const override {
    const double k = static_cast<double>(total.k);
    const WeightMoments pi = weight_moments(sticks(globals));
    DirichletRows rows = rows_of(total.k);
    rows.choose(pi);
    const double gamma = gamma_.at(pi);
    const double of_sticks = k * std::log(prior_.start.value) +
                             positions() * k * k * std::log(prior_.alpha.value) +
                             top_value(top(total.k, gamma), sticks(globals)).term() +
                             rows.value(pi, nullptr).term() + gamma_.beyond(gamma, pi, nullptr).term();
    return {{"transitions", transition_value(total, globals).term()},
            {"sticks", of_sticks},
            {"entropy", total.entropy()}};
  }

  Vec mean_weights(const Globals& globals) const override { return weights(globals); }

  NamedArrays posterior(const Globals& globals) const override {
    NamedArrays out = HmmAlloc::posterior(globals);
    gamma_.add_posterior(sticks(globals), out);
    return out;
  }

 protected:
  Vec weights(const Globals& globals) const override { return weights_from_sticks(sticks(globals).u); }

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
  // Finds û and ω̂ with θ̂ profiled out, that is, optimal for each π(û). counts: as for ProfiledRows.
  HdpSticks best_sticks(TransitionRows counts, const HdpSticks& start) const {
    const Index k = counts.k;
    const WeightMoments first = weight_moments(start);
    const double gamma = gamma_.at(first);
    DirichletRows rows = rows_of(k);
    rows.choose(first);
    ProfiledRows profiled(std::move(counts), prior_, first.mean);
    const auto value = [&](const WeightMoments& pi, WeightMoments* gradient) {
      RoundedSum sum = rows.value(pi, gradient);
      sum.add(gamma_.beyond(gamma, pi, gradient));
      sum.add(profiled.value(pi.mean, gradient ? &gradient->mean : nullptr));
      return sum;
    };
    return maximise_sticks(top(k, gamma), value, start);
  }

  // Alternates as long as the bound rises: the tilted rows at the present sticks; then the sticks with θ̂ −
  // prior of these rows in place of counts.
  Globals tilted_step(const Summary& total, const HdpSticks& start, const Vec& near) const {
    const auto at = [&](const HdpSticks& q, const Vec& from) {
      return with_tilts(total, q,
                        prior_.tilt->best(total, prior_rows(total.k, weights_from_sticks(q.u)), from));
    };
    const auto value = [&](const Globals& globals) { return sum_terms(elbo_terms(total, globals)); };
    const Vec sizes = total.sizes();
    const double enough_on = least_gain_on * std::accumulate(sizes.begin(), sizes.end(), 0.0);
    Globals now = at(start, near);
    double best = value(now);
    for (int round = 0; prior_.tilt->any() && round < most_rounds; ++round) {
      TransitionRows beyond = rows(now);
      const TransitionRows prior = prior_rows(total.k, weights(now));
      for (Index i = beyond.width; i < static_cast<Index>(beyond.theta.size()); ++i) {
        const Index row = i / beyond.width - 1, j = i % beyond.width;
        beyond.theta[i] -= prior.theta[i] - (row == j ? prior_.sticky.value : 0);
      }
      for (Index j = 0; j < beyond.width; ++j) beyond.theta[j] -= prior.theta[j];
      const HdpSticks found = best_sticks(std::move(beyond), sticks(now));
      if (!moved(sticks(now), found)) break;
      Globals next = at(found, tilts(now));
      const double gain = value(next) - best;
      if (!(gain > 0)) break;
      best += gain;
      now = std::move(next);
      if (gain < (near.empty() ? least_gain * (1 + std::abs(best)) : enough_on)) break;
    }
    return now;
  }

  static bool moved(const HdpSticks& from, const HdpSticks& to) {
    const Vec before = weights_from_sticks(from.u), after = weights_from_sticks(to.u);
    for (std::size_t j = 0; j < before.size(); ++j)
      if (!(std::abs(std::log(after[j] / before[j])) < least_move)) return true;
    return false;
  }

  static Globals with_tilts(const Summary& total, HdpSticks q, const Vec& tilts) {
    q.u.insert(q.u.end(), tilts.begin(), tilts.end());
    return {total, std::move(q.u), std::move(q.omega)};
  }

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

  // Adds the start row, or the transition rows.
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

  Globals global_step(const Summary& total, const Globals& from) const override {
    if (!prior_.tilt) return {total, {}, {}};
    const Vec pi(static_cast<std::size_t>(total.k), 1 / static_cast<double>(total.k));
    return {total, prior_.tilt->best(total, prior_rows(total.k, pi), from.u), {}};
  }

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
    const TransitionRows prior = prior_rows(states, Vec(static_cast<std::size_t>(states), share));
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
