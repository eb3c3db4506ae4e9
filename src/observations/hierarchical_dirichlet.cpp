#include "observations/hierarchical_dirichlet.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "foundation/special.h"
#include "kernels/kernels.h"
#include "observations/few_counts.h"
#include "observations/grid_search.h"

namespace bnpvi {

namespace {

constexpr double eta = 0.5;                                // η of Dir(η, ..., η), the prior of β
constexpr Index levels_of_a_task = 256;                    // a guess
constexpr int rounds_of_a_lap = 2, rounds_of_a_trial = 3;  // guesses

double size_of(const PowersOfTwo& grid) { return grid.high - grid.low + 1; }

double sum_of(const double* x, Index n) { return std::accumulate(x, x + n, 0.0); }

}  // namespace

SharePosterior checked(SharePosterior q) {
  constexpr double most = 1e100;
  const auto within = [](double least, double x) { return least <= x && x <= most; };
  const bool right = within(0, q.even) && within(0, q.common) && q.even + q.common > 0 &&
                     std::all_of(q.omega.begin(), q.omega.end(), [&](double x) { return within(1e-100, x); });
  if (!right) throw std::invalid_argument("the prior that clusters have in common is none");
  return q;
}

HierarchicalDirichlet::HierarchicalDirichlet(std::vector<Index> levels, PowersOfTwo common, PowersOfTwo even)
    : common_(common), even_(even) {
  for (Index n : levels) {
    columns_.push_back({levels_, n});
    levels_ += n;
  }
}

// The vector common exp(E log β).
Vec HierarchicalDirichlet::shared_weights(const SharePosterior& q) const {
  Vec out(q.omega.size());
  kernels().digamma_each(levels_, q.omega.data(), out.data());
  for (const Column& c : columns_) {
    const double all = digamma(sum_of(q.omega.data() + c.at, c.levels));
    for (Index v = c.at; v < c.at + c.levels; ++v) out[v] = q.common * std::exp(out[v] - all);
  }
  return out;
}

Vec HierarchicalDirichlet::weights(const SharePosterior& q) const {
  Vec out = shared_weights(q);
  for (double& x : out) x += q.even;
  return out;
}

Vec HierarchicalDirichlet::mean_weights(const SharePosterior& q) const {
  Vec out(q.omega.size());
  for (const Column& c : columns_) {
    const double all = sum_of(q.omega.data() + c.at, c.levels);
    for (Index v = c.at; v < c.at + c.levels; ++v) out[v] = q.even + q.common * (q.omega[v] / all);
  }
  return out;
}

double HierarchicalDirichlet::total(const SharePosterior& q, Index column) const {
  return static_cast<double>(columns_[column].levels) * q.even + q.common;
}

double HierarchicalDirichlet::log_weight_of_points() const {
  return -std::log(size_of(common_)) - (size_of(even_) > 0 ? std::log(size_of(even_)) : 0);
}

double HierarchicalDirichlet::log_density(const SharePosterior& q) const {
  Vec psi(q.omega.size()), log_gammas(q.omega.size());
  kernels().digamma_each(levels_, q.omega.data(), psi.data());
  kernels().log_gamma_each(levels_, q.omega.data(), log_gammas.data());
  double value = log_weight_of_points();
  for (const Column& c : columns_) {
    const double all = sum_of(q.omega.data() + c.at, c.levels), psi_all = digamma(all);
    const double n = static_cast<double>(c.levels);
    value += log_gamma(n * eta) - log_gamma(all) - n * log_gamma(eta);
    for (Index v = c.at; v < c.at + c.levels; ++v)
      value += log_gammas[v] - (q.omega[v] - eta) * (psi[v] - psi_all);
  }
  return value;
}

// A posterior, with the results of one pass over the clusters.
struct HierarchicalDirichlet::Point {
  SharePosterior q;
  Vec shared;  // common exp(E log β_v)
  Vec pull;    // Σ_k [ψ(λ_v + T_kv) − ψ(λ_v)]
  double bound = 0;
};

HierarchicalDirichlet::Point HierarchicalDirichlet::at(SharePosterior q, const Counts& counts) const {
  Point out{std::move(q), {}, Vec(static_cast<std::size_t>(levels_)), 0};
  out.shared = shared_weights(out.q);
  const Index tasks = (levels_ + levels_of_a_task - 1) / levels_of_a_task;
  Vec rising(static_cast<std::size_t>(tasks)), of_cluster(static_cast<std::size_t>(counts.k));
  for_each_part(counts.pool, tasks, [&](Index task) {
    const Index from = task * levels_of_a_task, n = std::min(levels_of_a_task, levels_ - from);
    double lambda[levels_of_a_task], log_gammas[levels_of_a_task], none[levels_of_a_task],
        psi[levels_of_a_task];
    for (Index v = 0; v < n; ++v) lambda[v] = out.q.even + out.shared[from + v];
    kernels().log_gamma_each(n, lambda, log_gammas);
    kernels().digamma_each(n, lambda, none);
    FewCounts& few = FewCounts::of_this_thread();
    for (Index k = 0; k < counts.k; ++k) {
      const double* t = counts.t + k * counts.ld + from;
      if (levels_ >= FewCounts::many && few.gather(n, lambda, t, log_gammas)) {
        rising[task] += kernels().digamma_and_rising(few.n(), few.prior.data(), few.count.data(), 0,
                                                     few.log_gamma.data(), few.psi.data());
        for (Index i = 0; i < few.n(); ++i) out.pull[from + few.at[i]] += few.psi[i] - none[few.at[i]];
        continue;
      }
      rising[task] += kernels().digamma_and_rising(n, lambda, t, 0, log_gammas, psi);
      for (Index v = 0; v < n; ++v) out.pull[from + v] += psi[v] - none[v];
    }
  });
  for_each_part(counts.pool, counts.k, [&](Index k) {
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      const Column& c = columns_[j];
      of_cluster[k] +=
          log_gamma_difference(total(out.q, static_cast<Index>(j)),
                               kernels().positive_sum(c.levels, counts.t + k * counts.ld + c.at));
    }
  });
  out.bound = sum_of(rising.data(), tasks) + sum_of(of_cluster.data(), counts.k) + log_density(out.q);
  if (!counts.apart.empty()) take_apart(counts, out);
  return out;
}

// For clusters with levels apart, corrects the results of at(), which treats all levels as having the common
// prior.
void HierarchicalDirichlet::take_apart(const Counts& counts, Point& at) const {
  const double all = total(at.q, 0);
  for (Index k = 0; k < counts.k; ++k) {
    if (!counts.apart[k]) continue;
    const std::vector<int>& levels = *counts.apart[k];
    const double* t = counts.t + k * counts.ld;
    const double tokens = kernels().positive_sum(levels_, t);
    double others = all, left = tokens;
    for (int v : levels) {
      const double lambda = at.q.even + at.shared[v], count = std::max(t[v], 0.0);
      others -= lambda;
      left -= count;
      at.bound += log_gamma_difference(lambda, count);
      at.pull[v] += digamma_difference(lambda, count);
    }
    left = std::max(left, 0.0);
    at.bound += log_gamma_difference(others, left) - log_gamma_difference(all, tokens);
    for (int v : levels) at.pull[v] -= digamma_difference(others, left);
  }
}

double HierarchicalDirichlet::bound(const SharePosterior& q, const Counts& counts) const {
  return at(q, counts).bound;
}

SharePosterior HierarchicalDirichlet::refreshed(const Point& from) const {
  SharePosterior out = from.q;
  for (std::size_t v = 0; v < out.omega.size(); ++v)
    out.omega[v] = eta + from.shared[v] * std::max(from.pull[v], 0.0);
  return out;
}

SharePosterior HierarchicalDirichlet::refreshed(const SharePosterior& q, const Counts& counts) const {
  return refreshed(at(q, counts));
}

HierarchicalDirichlet::Point HierarchicalDirichlet::after_rounds(Point from, int rounds,
                                                                 const Counts& counts) const {
  for (int i = 0; i < rounds; ++i) {
    Point next = at(refreshed(from), counts);
    if (!(next.bound > from.bound)) break;
    from = std::move(next);
  }
  return from;
}

// step: 0 and 1 move `common` up and down, 2 and 3 move `even`.
std::optional<SharePosterior> HierarchicalDirichlet::after_step(const SharePosterior& q, int step) const {
  SharePosterior next = q;
  double& part = step < 2 ? next.common : next.even;
  const PowersOfTwo& grid = step < 2 ? common_ : even_;
  part *= step % 2 == 0 ? 2 : 0.5;
  const int power = std::ilogb(part);
  if (power < grid.low || power > grid.high) return std::nullopt;
  return next;
}

SharePosterior HierarchicalDirichlet::improved(const SharePosterior& q, PriorSteps steps,
                                               const Counts& counts) const {
  Point here = after_rounds(at(q, counts), rounds_of_a_lap, counts);
  if (steps != PriorSteps::search) return here.q;
  return best_of_grid(
             std::move(here), size_of(even_) > 0 ? 4 : 2,
             [&](const Point& from, int step) { return after_step(from.q, step); },
             [&](SharePosterior next, double) {
               return after_rounds(at(std::move(next), counts), rounds_of_a_trial, counts);
             })
      .q;
}

}  // namespace bnpvi
