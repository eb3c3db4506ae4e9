#include <algorithm>
#include <cmath>
#include <numeric>

#include "features/moves.h"
#include "inference/move.h"
#include "kernels/kernels.h"

namespace bnpvi::features {

namespace {

constexpr Index most_rows = 2048;   // from which a direction is read
constexpr int power_rounds = 20;    // of the power iteration
constexpr Index most_rounds = 10;   // visits of the batch before a birth is given up
constexpr Index fewest_rounds = 3;  // and before it is accepted
constexpr double first_presence =
    0.9;  // ν of the side farther from 0; the other has the rest (guesses, all of these)

void normalise(Vec& x) {
  double size = 0;
  for (double v : x) size = std::max(size, std::abs(v));
  if (size == 0) return;
  double squares = 0;
  for (double& v : x) v /= size, squares += v * v;
  for (double& v : x) v /= std::sqrt(squares);
}

double dot(const double* a, const double* b, Index n) {
  double sum = 0;
  for (Index i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// The leading right singular vector of the sampled rows, or one of them.
Vec direction(const Buffer& r, Index d, const std::vector<Index>& sample, bool by_row, Stream& stream) {
  Vec out(static_cast<std::size_t>(d)), squares;
  for (Index i : sample) squares.push_back(dot(r.data() + i * d, r.data() + i * d, d));
  const Index drawn = draw(squares, stream);
  if (drawn < 0) return out;
  std::copy_n(r.data() + sample[drawn] * d, d, out.begin());
  normalise(out);
  for (int round = 0; round < power_rounds && !by_row; ++round) {
    Vec next(out.size());
    for (Index i : sample) {
      const double* row = r.data() + i * d;
      const double score = dot(row, out.data(), d);
      for (Index j = 0; j < d; ++j) next[j] += score * row[j];
    }
    normalise(next);
    out.swap(next);
  }
  return out;
}

// 2-means of sorted numbers: the mean of the two centres, and whether the upper one is farther from 0.
std::pair<double, bool> divide(Vec score) {
  std::sort(score.begin(), score.end());
  const std::size_t n = score.size();
  const double total = std::accumulate(score.begin(), score.end(), 0.0);
  double below = 0, best = -1, low = 0, high = 0;
  for (std::size_t i = 1; i < n; ++i) {
    below += score[i - 1];
    const double left = static_cast<double>(i), right = static_cast<double>(n - i);
    const double a = below / left, b = (total - below) / right, between = left * right * (b - a) * (b - a);
    if (between > best) best = between, low = a, high = b;
  }
  return {(low + high) / 2, std::abs(high) >= std::abs(low)};
}

}  // namespace

bool try_birth(const FeatureProblem& problem, FeatureState& state, Index b, bool by_row, Stream stream) {
  const Rows& rows = problem.rows;
  const Index from = rows.batch_start[b], end = rows.batch_start[b + 1], n = end - from, d = rows.d;
  if (n < 2 || (problem.prior.most() > 0 && state.k() >= problem.prior.most())) return false;
  const Buffer r = residuals(local_model(problem, state), from, end, *state.presence[b], problem.pool);
  std::vector<Index> sample(static_cast<std::size_t>(n));
  std::iota(sample.begin(), sample.end(), Index{0});
  draw_to_front(sample, std::min(n, most_rows), stream);
  sample.resize(static_cast<std::size_t>(std::min(n, most_rows)));
  const Vec way = direction(r, d, sample, by_row, stream);
  Vec score;
  for (Index i : sample) score.push_back(dot(r.data() + i * d, way.data(), d));
  const auto [middle, upper] = divide(score);

  FeatureState proposal = state;
  append_feature(proposal);
  const Presence& before = *state.presence[b];
  Presence begun;
  for (Index i = 0; i < n; ++i) {
    for (Index e = before.start[i]; e < before.start[i + 1]; ++e)
      begun.add(before.feature[e], before.value[e]);
    const bool has = (dot(r.data() + i * d, way.data(), d) > middle) == upper;
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
