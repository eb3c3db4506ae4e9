// The search for a better posterior of hyperparameters: rounds of ascent, and steps of the discrete ones.
#include <cmath>
#include <optional>
#include <utility>

#include "observations/grid_search.h"
#include "observations/hierarchical_gaussian.h"

namespace bnpvi {

namespace {

constexpr double most_excess_df = 2048, most_excess_wishart_df = 512;  // largest e and a − d of their grids
constexpr double first_excess_wishart_df = 4;  // first value tried if Ψ was diagonal: a guess
// Guesses. Rounds should go on until little gain is left: a proposal that adapts the prior must not be
// credited with gains that the prior would make anyway.
constexpr int most_rounds = 20, rounds_of_a_trial = 3;
constexpr double least_gain = 0.01;  // nats; another round follows if one gained at least this

constexpr int n_grid_steps = 5;

}  // namespace

/// Steps of the points of q: e, a − d, and whether Ψ is diagonal. Each step but the last stands next to its
/// inverse.
enum class HierarchicalGaussian::GridStep { df_up, df_down, wishart_df_up, wishart_df_down, other_kind };

struct HierarchicalGaussian::Point {
  HyperPosterior q;
  ExpectedClusters expected;
  double bound;
};

HierarchicalGaussian::Point HierarchicalGaussian::at(HyperPosterior q, const Expect& expect) const {
  Point out{std::move(q), {}, 0};
  out.expected = expect(effective(out.q));
  out.bound = out.expected.evidence + log_density(out.q);
  for (Index j = 0; j < blocks_; ++j) out.bound += out.expected.used[j] * occupied_term(out.q, j);
  return out;
}

// Stops early if the remaining rounds would not bring the bound above `to_beat` even if each gained as much
// as the last one: gains shrink from round to round.
HierarchicalGaussian::Point HierarchicalGaussian::after_rounds(Point from, int rounds, double to_beat,
                                                               const Expect& expect) const {
  for (int left = rounds; left > 0; --left) {
    Point next = at(refreshed(from.q, from.expected), expect);
    const double gain = next.bound - from.bound;
    if (!(gain > 0)) break;
    from = std::move(next);
    if (gain < least_gain || to_beat - from.bound > gain * (left - 1)) break;
  }
  return from;
}

// The step keeps Ψ̄.
std::optional<HyperPosterior> HierarchicalGaussian::after_step(const HyperPosterior& q, GridStep step,
                                                               const Vec& used) const {
  HyperPosterior next = q;
  const double d = static_cast<double>(d_);
  const double times = step == GridStep::df_up || step == GridStep::wishart_df_up ? 2 : 0.5;
  const bool about_df = step == GridStep::df_up || step == GridStep::df_down, full = q.wishart_df > 0;
  if (about_df) {
    const double excess = times * (q.df - d + 1);
    if (data_.given.df || excess < 1 || excess > most_excess_df) return std::nullopt;
    next.df = d - 1 + excess;
  } else if (data_.given.scale || d_ == 1 || (step != GridStep::other_kind && !full)) {
    return std::nullopt;
  } else if (step == GridStep::other_kind && full) {
    next.wishart_df = 0;
    next.rate.clear();
    next.shape_df.assign(static_cast<std::size_t>(d_), diagonal_df + used[0] * q.df);
    for (Index i = 0; i < d_ * d_; ++i)
      if (i % (d_ + 1) != 0) next.shape[i] = 0;
  } else {
    const double excess = full ? times * (q.wishart_df - d) : first_excess_wishart_df;
    if (excess < 1 || excess > most_excess_wishart_df) return std::nullopt;
    next.wishart_df = d + excess;
    next.shape_df = {next.wishart_df + used[0] * q.df};
    next.rate.resize(static_cast<std::size_t>(d_));
    for (Index i = 0; i < d_; ++i) next.rate[i] = expected_rate(i, next.wishart_df, next.shape[i * d_ + i]);
  }
  set_shape_df(next, used);
  return next;
}

HyperPosterior HierarchicalGaussian::improved(const HyperPosterior& q, PriorSteps steps,
                                              const Expect& expect) const {
  Point here = after_rounds(at(q, expect), most_rounds, -INFINITY, expect);
  if (steps != PriorSteps::search) return here.q;
  return best_of_grid(
             std::move(here), n_grid_steps,
             [&](const Point& from, int step) {
               return after_step(from.q, static_cast<GridStep>(step), from.expected.used);
             },
             [&](HyperPosterior next, double to_beat) {
               return after_rounds(at(std::move(next), expect), rounds_of_a_trial, to_beat, expect);
             })
      .q;
}

}  // namespace bnpvi
