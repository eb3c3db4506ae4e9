#include <algorithm>
#include <cmath>

#include "features/moves.h"
#include "inference/moves/move.h"

namespace bnpvi::features {

namespace {

constexpr double alike = 0.6;     // least |cosine| of the loadings of two features that are joined
constexpr double together = 0.4;  // share of the rarer one's rows that may have both, or may not, where
                                  // loadings are opposite (both numbers are guesses)

// Features to be joined; b is the rarer one if their loadings are opposite.
struct Pair {
  Index a, b;
  double cosine;
};

std::vector<Pair> close_pairs(const FeatureProblem& problem, const FeatureState& state,
                              const FailedMoves& failed) {
  const Index d = problem.rows.d, o = problem.offset;
  const Vec count = counts_of(problem, state.total);
  const auto product = [&](Index a, Index b) {
    const double *x = state.loadings.m.data() + (a + o) * d, *y = state.loadings.m.data() + (b + o) * d;
    double sum = 0;
    for (Index i = 0; i < d; ++i) sum += x[i] * y[i];
    return sum;
  };
  Vec size;
  for (Index j = 0; j < state.k(); ++j) size.push_back(std::sqrt(product(j, j)));
  std::vector<Pair> out;
  for (Index a = 0; a < state.k(); ++a)
    for (Index b = a + 1; b < state.k(); ++b) {
      const double cosine = product(a, b) / (size[a] * size[b]), both = pair_of(state.total, a + o, b + o, 0);
      const bool swap = cosine < 0 && count[a] < count[b];
      const Pair pair{swap ? b : a, swap ? a : b, cosine};
      const double fewer = std::min(count[a], count[b]),
                   odd = cosine < 0 ? count[pair.b] - both : both;  // rows for which one feature will not do
      if (std::abs(cosine) > alike && odd < together * fewer &&
          FailedMoves::worth_trying(failed.merges, state.id[pair.a], state.id[pair.b], count[pair.a],
                                    count[pair.b]))
        out.push_back(pair);
    }
  std::stable_sort(out.begin(), out.end(),
                   [](const Pair& p, const Pair& q) { return std::abs(p.cosine) > std::abs(q.cosine); });
  return out;
}

}  // namespace

Index merge_features(const FeatureProblem& problem, FeatureState& state, FailedMoves& failed, Index most,
                     Index& tried) {
  Index merged = 0;
  if (has_settled(problem, state)) return 0;
  for (Index trial = 0; trial < most; ++trial) {
    const std::vector<Pair> pairs = close_pairs(problem, state, failed);
    if (pairs.empty()) break;
    const Pair pair = pairs.front();
    const int a = state.id[pair.a], b = state.id[pair.b];
    const Vec count = counts_of(problem, state.total);
    FeatureState proposal = state;
    drop_feature(problem, proposal, pair.b);
    proposal.loadings.k = proposal.total.k;
    const auto one = [&](double x, double y) {
      return std::make_pair(pair.cosine > 0 ? x + y - x * y : x * (1 - y), 0.0);
    };
    for (Index i = 0; i < problem.rows.n_batches(); ++i) {
      proposal.presence[i] = std::make_shared<const Presence>(change_pair(*state.presence[i], a, b, one));
      visit_batch(problem, proposal, i, {0});
    }
    renew(problem, proposal);
    ++tried;
    if (proposal.elbo > state.elbo + rounding_of(state.elbo) || overtakes(problem, proposal, state.elbo)) {
      accept(problem, state, std::move(proposal));
      ++merged;
    } else {
      failed.merges[{a, b}] = {count[pair.a], count[pair.b]};
    }
  }
  return merged;
}

}  // namespace bnpvi::features
