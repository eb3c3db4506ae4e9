// The search for a better posterior of hyperparameters: rounds of ascent, and steps of what are points.
#include <cmath>
#include <utility>

#include "observations/grid_search.h"
#include "observations/hierarchical_gaussian.h"

namespace bnpvi {

namespace {

constexpr double most_excess_df = 2048, most_excess_wishart_df = 512;  // of the grids of e and a − d
constexpr double first_excess_wishart_df = 4;  // tried where Ψ has been diagonal: a guess
// Guesses. What a prior has yet to gain must not count for a proposal that lets it follow.
constexpr int most_rounds = 20, rounds_of_a_trial = 3;
constexpr double least_gain = 0.01;  // nats, of a round after which another one follows

}  // namespace

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

// Fewer rounds where all that are left, each gaining as much as the last, would not bring it above `to_beat`:
// gains shrink.
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

// Those that differ in e, a − d or the kind by one step; Ψ̄ is kept.
std::vector<HyperPosterior> HierarchicalGaussian::neighbours(const HyperPosterior& q, const Vec& used) const {
  std::vector<HyperPosterior> out;
  const double d = static_cast<double>(d_);
  const auto add = [&](const std::function<void(HyperPosterior&)>& change) {
    HyperPosterior next = q;
    change(next);
    set_shape_df(next, used);
    out.push_back(std::move(next));
  };
  const auto in_full_kind = [&](double excess) {
    add([&](HyperPosterior& next) {
      next.wishart_df = d + excess;
      next.shape_df = {next.wishart_df + used[0] * q.df};
      next.rate.resize(static_cast<std::size_t>(d_));
      for (Index i = 0; i < d_; ++i) next.rate[i] = expected_rate(i, next.wishart_df, next.shape[i * d_ + i]);
    });
  };
  if (!data_.given.df)
    for (double excess : {2 * (q.df - d + 1), 0.5 * (q.df - d + 1)})
      if (excess >= 1 && excess <= most_excess_df)
        add([&](HyperPosterior& next) { next.df = d - 1 + excess; });
  if (data_.given.scale || d_ == 1) return out;
  if (q.wishart_df == 0) {
    in_full_kind(first_excess_wishart_df);
    return out;
  }
  for (double excess : {2 * (q.wishart_df - d), 0.5 * (q.wishart_df - d)})
    if (excess >= 1 && excess <= most_excess_wishart_df) in_full_kind(excess);
  add([&](HyperPosterior& next) {
    next.wishart_df = 0;
    next.rate.clear();
    next.shape_df.assign(static_cast<std::size_t>(d_), diagonal_df + used[0] * q.df);
    for (Index i = 0; i < d_ * d_; ++i)
      if (i % (d_ + 1) != 0) next.shape[i] = 0;
  });
  return out;
}

HyperPosterior HierarchicalGaussian::improved(const HyperPosterior& q, PriorSteps steps,
                                              const Expect& expect) const {
  Point here = after_rounds(at(q, expect), most_rounds, -INFINITY, expect);
  if (steps != PriorSteps::search) return here.q;
  return best_of_grid(
             std::move(here), [&](const Point& from) { return neighbours(from.q, from.expected.used); },
             [&](HyperPosterior next, double to_beat) {
               return after_rounds(at(std::move(next), expect), rounds_of_a_trial, to_beat, expect);
             })
      .q;
}

}  // namespace bnpvi
