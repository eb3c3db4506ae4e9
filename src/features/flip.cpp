#include <algorithm>
#include <numeric>

#include "features/moves.h"
#include "inference/move.h"

namespace bnpvi::features {

namespace {

constexpr double within = 0.5;  // least share of a feature's rows that have the other, too: a guess
constexpr double near = 10;     // nats that visits may make up for: a guess

// The statistics after z_j → 1 − z_j, exactly: with the offset, row 0, Σ (1 − z_j) x = S_zx,0 − S_zx,j, and
// so on.
void flip(Summary& s, Index j) {
  const Index k = s.k, q = s.shape.q, pairs = s.shape.pairs;
  const auto at = [&](Index a, Index b, Index g) -> double& { return s.pair[(a * k + b) * pairs + g]; };
  s.edit_t(j)[0] = s.size(0) - s.size(j);
  for (Index e = 0; e + 1 < q; ++e) s.extra[j * q + e] = s.extra[e] - s.extra[j * q + e];
  for (Index g = 0; g < pairs; ++g) {
    for (Index l = 0; l < k; ++l)
      if (l != j) at(j, l, g) = at(l, j, g) = at(0, l, g) - at(j, l, g);
    at(j, j, g) = at(0, 0, g) - at(j, j, g);
  }
}

}  // namespace

Index flip_features(const FeatureProblem& problem, FeatureState& state, FailedMoves& failed, bool visits) {
  Index n = 0;
  const auto turned = [](double, double nu) { return std::make_pair(0.0, 1 - nu); };
  FailedMoves::Singles& known = visits ? failed.visited_flips : failed.flips;
  if (!problem.offset || has_settled(problem, state)) return 0;
  for (Index j = 0; j < state.k(); ++j) {
    const double count = state.total.size(j + 1);
    if (!FailedMoves::worth_trying(known, state.id[j], count)) continue;
    known[state.id[j]] = count;
    FeatureState proposal = state;
    flip(proposal.total, j + 1);
    renew(problem, proposal, false);
    const bool higher = proposal.elbo > state.elbo + rounding_of(state.elbo);
    if (!higher && !(visits && proposal.elbo > state.elbo - near)) continue;
    for (Index b = 0; b < problem.rows.n_batches(); ++b) {
      auto changed = std::make_shared<Summary>(*state.batch[b]);
      flip(*changed, j + 1);
      proposal.batch[b] = std::move(changed);
      proposal.presence[b] =
          std::make_shared<const Presence>(change_pair(*state.presence[b], -1, state.id[j], turned));
    }
    add_gram(problem.rows, proposal.loadings);
    if (!higher && !overtakes(problem, proposal, state.elbo)) continue;
    state = std::move(proposal);
    failed.flips.clear();
    failed.visited_flips.clear();
    ++n;
  }
  return n;
}

Index turn_features(const FeatureProblem& problem, FeatureState& state, FailedMoves& failed, Index most) {
  const Index d = problem.rows.d, o = problem.offset;
  const auto product = [&](Index a, Index b) {
    const double* m = state.loadings.m.data();
    return std::inner_product(m + (a + o) * d, m + (a + o + 1) * d, m + (b + o) * d, 0.0);
  };
  const auto turned = [](double x, double y) { return std::make_pair(x, x * (1 - y)); };
  Index n = 0;
  if (has_settled(problem, state)) return n;
  for (Index a = 0; a < state.k(); ++a)
    for (Index b = 0; b < state.k() && most > 0; ++b) {
      if (a == b || !(2 * product(a, b) + product(b, b) < 0)) continue;
      const Vec count = counts_of(problem, state.total);
      if (pair_of(state.total, a + o, b + o, 0) < within * count[b] ||
          !FailedMoves::worth_trying(failed.turns, state.id[a], state.id[b], count[a], count[b]))
        continue;
      --most;
      FeatureState proposal = state;
      for (Index i = 0; i < problem.rows.n_batches(); ++i) {
        proposal.presence[i] = std::make_shared<const Presence>(
            change_pair(*state.presence[i], state.id[a], state.id[b], turned));
        visit_batch(problem, proposal, i, {0});
      }
      renew(problem, proposal);
      if (proposal.elbo > state.elbo + rounding_of(state.elbo) || overtakes(problem, proposal, state.elbo)) {
        state = std::move(proposal);
        ++n;
      } else {
        failed.turns[{state.id[a], state.id[b]}] = {count[a], count[b]};
      }
    }
  return n;
}

void reorder_features(const FeatureProblem& problem, FeatureState& state) {
  if (!problem.prior.ordered()) return;
  const Vec count = counts_of(problem, state.total);
  std::vector<Index> order(count.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return count[a] > count[b]; });
  if (std::is_sorted(order.begin(), order.end())) return;
  FeatureState proposal = state;
  permute_features(problem, proposal, order);
  renew(problem, proposal);
  if (proposal.elbo > state.elbo + rounding_of(state.elbo)) state = std::move(proposal);
}

}  // namespace bnpvi::features
