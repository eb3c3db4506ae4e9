#include <algorithm>
#include <cmath>
#include <numeric>

#include "features/moves.h"
#include "features/residual_direction.h"
#include "inference/move.h"

namespace bnpvi::features {

namespace {

constexpr Index most_rows = 2048;   // from which a direction is read
constexpr Index most_rounds = 10;   // visits of the batch before a birth is given up
constexpr Index fewest_rounds = 3;  // and before it is accepted
constexpr double first_presence =
    0.9;  // ν of the side farther from 0; the other has the rest (guesses, all of these)

double dot(const double* a, const double* b, Index n) {
  double sum = 0;
  for (Index i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

bool try_birth(const FeatureProblem& problem, FeatureState& state, Index b, Direction kind, Stream stream) {
  const Rows& rows = problem.rows;
  const Index from = rows.batch_start[b], end = rows.batch_start[b + 1], n = end - from, d = rows.d;
  if (n < 2 || (problem.prior.most() > 0 && state.k() >= problem.prior.most())) return false;
  const Buffer r = residuals(local_model(problem, state), from, end, *state.presence[b], problem.pool);
  std::vector<Index> sample(static_cast<std::size_t>(n));
  std::iota(sample.begin(), sample.end(), Index{0});
  draw_to_front(sample, std::min(n, most_rows), stream);
  sample.resize(static_cast<std::size_t>(std::min(n, most_rows)));
  const Vec way = residual_direction(r, d, sample, kind, stream);
  Vec score;
  for (Index i : sample) score.push_back(dot(r.data() + i * d, way.data(), d));
  const Division sides = divide(score);

  FeatureState proposal = state;
  append_feature(proposal);
  const Presence& before = *state.presence[b];
  Presence begun;
  for (Index i = 0; i < n; ++i) {
    for (Index e = before.start[i]; e < before.start[i + 1]; ++e)
      begun.add(before.feature[e], before.value[e]);
    const bool has = (dot(r.data() + i * d, way.data(), d) > sides.middle) == sides.upper;
    begun.add(proposal.id.back(), has ? first_presence : 1 - first_presence);
    begun.end_row();
  }
  proposal.presence[b] = std::make_shared<const Presence>(std::move(begun));
  proposal.loadings.k = proposal.total.k;
  visit_batch(problem, proposal, b, {0});
  renew(problem, proposal);
  // A further empty stick raises L_π a little by itself, which is no reason for a feature.
  Vec padded = counts_of(problem, state.total);
  padded.push_back(0);
  const double empty = problem.prior.fit(padded, state.total.scalar[n_rows], {}).value;
  const double to_beat = state.elbo + rounding_of(state.elbo) + std::max(0.0, empty - state.weights.value);
  double earlier = proposal.elbo;
  for (Index round = 1; round <= most_rounds; ++round) {
    visit_batch(problem, proposal, b, {});
    renew(problem, proposal);
    if (!std::isfinite(proposal.elbo)) return false;
    const double lacking = to_beat - proposal.elbo;
    if (round < fewest_rounds) {
      earlier = proposal.elbo;
      continue;
    }
    if (lacking < 0) {
      state = std::move(proposal);
      return true;
    }
    if (2 * (proposal.elbo - earlier) * static_cast<double>(most_rounds - round) < lacking) return false;
    earlier = proposal.elbo;
  }
  return false;
}

}  // namespace bnpvi::features
