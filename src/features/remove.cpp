#include <algorithm>
#include <cmath>
#include <numeric>

#include "features/moves.h"
#include "inference/moves/move.h"

namespace bnpvi::features {

namespace {

constexpr Index most_refit = 10;   // features whose loss is known exactly: a guess
constexpr double far_below = 50;   // nats: a guess
constexpr Index most_rounds = 15;  // visits of all rows until a proposal is given up: a guess
constexpr double same = 0.1;       // share by which a count may change and a failure still holds: a guess

bool differs(double before, double now) { return std::abs(now - before) > same * before; }

// The ELBO without feature j, from the statistics. If it is far below the state's, a lower bound is returned,
// at the present sticks. refit = false: the likelihood's part is a lower bound, too, at the present q(ρ).
double elbo_without(const FeatureProblem& problem, const FeatureState& state, Index j, bool refit) {
  FeatureState out = state;
  drop_feature(problem, out, j);
  const double value =
      refit ? fit_loadings(problem.likelihood, problem.rows, out.total, state.loadings).value
            : value_without(problem.likelihood, problem.rows, state.loadings, j + problem.offset);
  const double rest = value + entropy_of(out.total), n = out.total.scalar[n_rows];
  const Vec counts = counts_of(problem, out.total);
  const double elbo = rest + problem.prior.at_least(counts, n, out.weights);
  if (elbo + far_below < state.elbo) return elbo;
  return rest + problem.prior.fit(counts, n, out.weights).value;
}

// The state without its batches, which are not needed here.
FeatureState without_batches(const FeatureState& state) {
  FeatureState out = state;
  out.batch.clear();
  out.presence.clear();
  return out;
}

// A lower bound of the ELBO without each feature, quickly computed at the present q(ρ) and sticks.
Vec at_least_without(const FeatureProblem& problem, const FeatureState& state) {
  const FeatureState bare = without_batches(state);
  Vec elbo(state.id.size());
  problem.pool.run(state.k(), [&](Index j) {
    FeatureState out = bare;
    drop_feature(problem, out, j);
    elbo[j] = value_without(problem.likelihood, problem.rows, state.loadings, j + problem.offset) +
              entropy_of(out.total) +
              problem.prior.at_least(counts_of(problem, out.total), out.total.scalar[n_rows], out.weights);
  });
  return elbo;
}

// The ELBO without each feature; those whose absence costs least are refitted.
Vec elbo_without(const FeatureProblem& problem, const FeatureState& state) {
  const FeatureState bare = without_batches(state);
  Vec elbo(state.id.size(), INFINITY);
  std::vector<Index> best(elbo.size());
  std::iota(best.begin(), best.end(), Index{0});
  if (state.k() > most_refit) {
    problem.pool.run(state.k(), [&](Index j) { elbo[j] = elbo_without(problem, bare, j, false); });
    std::partial_sort(best.begin(), best.begin() + most_refit, best.end(), [&](Index a, Index b) {
      return std::make_pair(-elbo[a], a) < std::make_pair(-elbo[b], b);
    });
    best.resize(most_refit);
  }
  problem.pool.run(static_cast<Index>(best.size()),
                   [&](Index i) { elbo[best[i]] = elbo_without(problem, bare, best[i], true); });
  return elbo;
}

FeatureState without(const FeatureProblem& problem, const FeatureState& state, Index j) {
  FeatureState out = state;
  drop_feature(problem, out, j);
  renew(problem, out);
  return out;
}

}  // namespace

bool FailedMoves::worth_trying(const Singles& features, int id, double count) {
  const auto at = features.find(id);
  return at == features.end() || differs(at->second, count);
}

bool FailedMoves::worth_trying(const Pairs& pairs, int a, int b, double count_a, double count_b) {
  const auto at = pairs.find({a, b});
  return at == pairs.end() || differs(at->second.first, count_a) || differs(at->second.second, count_b);
}

bool overtakes(const FeatureProblem& problem, FeatureState& proposal, double to_beat) {
  to_beat += rounding_of(to_beat);
  for (Index round = 0; round < most_rounds; ++round) {
    const double before = proposal.elbo;
    for (Index b = 0; b < problem.rows.n_batches(); ++b) {
      visit_batch(problem, proposal, b, {});
      renew(problem, proposal);
    }
    const double gain = proposal.elbo - before, lacking = to_beat - proposal.elbo;
    if (!std::isfinite(proposal.elbo)) return false;
    if (lacking < 0) return true;
    if (gain * static_cast<double>(most_rounds - round - 1) < lacking) return false;
  }
  return false;
}

Index delete_needless(const FeatureProblem& problem, FeatureState& state, Index& tried) {
  Index gone = 0;
  while (state.k() > 0) {
    const Vec elbo = at_least_without(problem, state);
    const auto best = std::max_element(elbo.begin(), elbo.end());
    tried += state.k();
    if (!(*best > state.elbo + rounding_of(state.elbo))) break;
    accept(problem, state, without(problem, state, best - elbo.begin()));
    ++gone;
  }
  return gone;
}

Index delete_features(const FeatureProblem& problem, FeatureState& state, Index& tried) {
  Index gone = delete_needless(problem, state, tried);
  while (state.k() > 0) {
    const Vec elbo = elbo_without(problem, state);
    const auto best = std::max_element(elbo.begin(), elbo.end());
    tried += state.k();
    if (!(*best > state.elbo + rounding_of(state.elbo))) break;
    accept(problem, state, without(problem, state, best - elbo.begin()));
    gone += 1 + delete_needless(problem, state, tried);
  }
  return gone;
}

bool try_delete_with_visits(const FeatureProblem& problem, FeatureState& state, FailedMoves& failed) {
  const Vec elbo = elbo_without(problem, state), count = counts_of(problem, state.total);
  Index j = -1;
  for (Index i = 0; i < state.k(); ++i)
    if (FailedMoves::worth_trying(failed.deletes, state.id[i], count[i]) && (j < 0 || elbo[i] > elbo[j]))
      j = i;
  if (j < 0) return false;
  FeatureState proposal = without(problem, state, j);
  if (!overtakes(problem, proposal, state.elbo)) {
    failed.deletes[state.id[j]] = count[j];
    return false;
  }
  accept(problem, state, std::move(proposal));
  return true;
}

}  // namespace bnpvi::features
