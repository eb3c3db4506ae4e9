#include <algorithm>
#include <cmath>

#include "features/moves.h"
#include "inference/move.h"

namespace bnpvi::features {

namespace {

constexpr double alike = 0.8;  // least cosine of two features' loadings
constexpr double together =
    0.2;  // largest share of the rarer one's rows that have both (both numbers are guesses)

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
      const double cosine = product(a, b) / (size[a] * size[b]);
      if (cosine > alike && pair_of(state.total, a + o, b + o, 0) < together * std::min(count[a], count[b]) &&
          failed.merge_worth_trying(state.id[a], state.id[b], count[a], count[b]))
        out.push_back({a, b, cosine});
    }
  std::stable_sort(out.begin(), out.end(), [](const Pair& p, const Pair& q) { return p.cosine > q.cosine; });
  return out;
}

// Rows have feature a where they had a or b.
Presence joined(const Presence& before, int a, int b) {
  Presence out;
  for (Index i = 0; i < before.rows(); ++i) {
    double absent = 1;
    for (Index e = before.start[i]; e < before.start[i + 1]; ++e) {
      if (before.feature[e] == a || before.feature[e] == b)
        absent *= 1 - before.value[e];
      else
        out.add(before.feature[e], before.value[e]);
    }
    if (absent < 1) out.add(a, 1 - absent);
    out.end_row();
  }
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
    for (Index i = 0; i < problem.rows.n_batches(); ++i) {
      proposal.presence[i] = std::make_shared<const Presence>(joined(*state.presence[i], a, b));
      visit_batch(problem, proposal, i, {0});
    }
    renew(problem, proposal);
    ++tried;
    if (proposal.elbo > state.elbo + rounding_of(state.elbo)) {
      state = std::move(proposal);
      ++merged;
    } else {
      const bool in_order = a < b;
      failed.merges[{std::min(a, b), std::max(a, b)}] = {count[in_order ? pair.a : pair.b],
                                                         count[in_order ? pair.b : pair.a]};
    }
  }
  return merged;
}

}  // namespace bnpvi::features
