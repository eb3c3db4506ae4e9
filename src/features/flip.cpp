#include <algorithm>
#include <cmath>
#include <numeric>

#include "features/moves.h"
#include "inference/moves/move.h"

namespace bnpvi::features {

namespace {

constexpr double within = 0.5;  // least share of a feature's rows that have the other, too: a guess
constexpr double near = 10;     // nats that visits may make up for: a guess

// Changes the statistics exactly as z_j → 1 − z_j does: with the offset as feature 0, Σ (1 − z_j) x = S_zx,0
// − S_zx,j, and so on.
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

// The state after some features were flipped, with total and globals but without batches.
FeatureState flipped(const FeatureProblem& problem, const FeatureState& state,
                     const std::vector<Index>& which) {
  FeatureState out = state;
  for (Index j : which) flip(out.total, j + 1);
  renew(problem, out, false);
  return out;
}

// Flips one or two features in the batches, too.
void flip_batches(const FeatureProblem& problem, const FeatureState& state, const std::vector<Index>& which,
                  FeatureState& proposal) {
  const int b = state.id[which.back()], a = which.size() > 1 ? state.id[which.front()] : -1;
  const auto turned = [a](double x, double y) { return std::make_pair(a < 0 ? 0.0 : 1 - x, 1 - y); };
  for (Index i = 0; i < problem.rows.n_batches(); ++i) {
    auto changed = std::make_shared<Summary>(*state.batch[i]);
    for (Index j : which) flip(*changed, j + 1);
    proposal.batch[i] = std::move(changed);
    proposal.presence[i] = std::make_shared<const Presence>(change_pair(*state.presence[i], a, b, turned));
  }
  add_gram(problem.rows, proposal.loadings);
}

bool is_higher(const FeatureState& proposal, const FeatureState& state) {
  return proposal.elbo > state.elbo + rounding_of(state.elbo);
}

void accept_flips(const FeatureProblem& problem, FeatureState&& proposal, FeatureState& state,
                  FailedMoves& failed) {
  accept(problem, state, std::move(proposal));
  failed.flips.clear();
  failed.visited_flips.clear();
  failed.flips_of_two.clear();
}

// Pairs of features not tried yet, ordered by the size of the offset after the flip, smallest first.
std::vector<std::vector<Index>> pairs_to_flip(const FeatureProblem& problem, const FeatureState& state,
                                              const FailedMoves& failed, Index most) {
  const Index d = problem.rows.d;
  const Vec count = counts_of(problem, state.total);
  const double* m = state.loadings.m.data();
  std::vector<std::pair<double, std::vector<Index>>> all;
  for (Index a = 0; a < state.k(); ++a)
    for (Index b = a + 1; b < state.k(); ++b) {
      if (!FailedMoves::worth_trying(failed.flips_of_two, state.id[a], state.id[b], count[a], count[b]))
        continue;
      double squares = 0;
      for (Index e = 0; e < d; ++e) {
        const double offset = m[e] + m[(a + 1) * d + e] + m[(b + 1) * d + e];
        squares += offset * offset;
      }
      all.push_back({squares, {a, b}});
    }
  std::sort(all.begin(), all.end());
  std::vector<std::vector<Index>> out;
  for (auto& pair : all)
    if (static_cast<Index>(out.size()) < most) out.push_back(std::move(pair.second));
  return out;
}

// Visits all rows after the flip of the best pair, if that may raise the ELBO.
bool flip_two(const FeatureProblem& problem, FeatureState& state, FailedMoves& failed, Index most) {
  const Vec count = counts_of(problem, state.total);
  FeatureState best;
  best.elbo = -INFINITY;
  std::vector<Index> which;
  for (const std::vector<Index>& pair : pairs_to_flip(problem, state, failed, most)) {
    failed.flips_of_two[{state.id[pair[0]], state.id[pair[1]]}] = {count[pair[0]], count[pair[1]]};
    FeatureState proposal = flipped(problem, state, pair);
    if (!(proposal.elbo > best.elbo)) continue;
    best = std::move(proposal);
    which = pair;
  }
  if (which.empty() || !(best.elbo > state.elbo - near)) return false;
  flip_batches(problem, state, which, best);
  if (!is_higher(best, state) && !overtakes(problem, best, state.elbo)) return false;
  accept_flips(problem, std::move(best), state, failed);
  return true;
}

}  // namespace

Index flip_features(const FeatureProblem& problem, FeatureState& state, FailedMoves& failed, Index most,
                    bool visits) {
  Index n = 0;
  FailedMoves::Singles& known = visits ? failed.visited_flips : failed.flips;
  if (!problem.offset || has_settled(problem, state)) return 0;
  for (Index j = 0; j < state.k(); ++j) {
    const double count = state.total.size(j + 1);
    if (!FailedMoves::worth_trying(known, state.id[j], count)) continue;
    known[state.id[j]] = count;
    FeatureState proposal = flipped(problem, state, {j});
    const bool higher = is_higher(proposal, state);
    if (!higher && !(visits && proposal.elbo > state.elbo - near)) continue;
    flip_batches(problem, state, {j}, proposal);
    if (!higher && !overtakes(problem, proposal, state.elbo)) continue;
    accept_flips(problem, std::move(proposal), state, failed);
    ++n;
  }
  if (visits && n == 0 && flip_two(problem, state, failed, most)) n = 2;
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
        accept(problem, state, std::move(proposal));
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
  if (proposal.elbo > state.elbo + rounding_of(state.elbo)) accept(problem, state, std::move(proposal));
}

}  // namespace bnpvi::features
