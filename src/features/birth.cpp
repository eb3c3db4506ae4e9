#include <algorithm>
#include <cmath>
#include <numeric>

#include "features/moves.h"
#include "features/residual_direction.h"
#include "inference/moves/move.h"

namespace bnpvi::features {

namespace {

constexpr Index most_rows = 2048;          // from which one direction is computed
constexpr Index most_rows_of_many = 8192;  // for several directions: 2,048 rows of 64 columns separated 23 of
                                           // 50
constexpr double clear = 0.7;       // least share explained by two values; of a Gaussian it is 2/π: a guess
constexpr Index most_rounds = 10;   // visits of the batch before a birth is given up
constexpr Index fewest_rounds = 3;  // and before it is accepted
constexpr double first_presence =
    0.9;  // ν of the side farther from 0; the other has the rest (guesses, all of these)

// Start of a new feature: rows on one side of the midpoint of the scores along `way` begin with it.
struct Beginning {
  Vec way;
  Division sides;

  bool has(const double* row) const {
    return (std::inner_product(way.begin(), way.end(), row, 0.0) > sides.middle) == sides.upper;
  }
};

// Rows of residuals (d numbers each), and the sample of rows from which directions are computed.
struct Residuals {
  Index d;
  Buffer r;
  std::vector<Index> sample;

  Beginning beginning(Vec way) const {
    Vec score;
    for (Index i : sample)
      score.push_back(std::inner_product(way.begin(), way.end(), r.begin() + i * d, 0.0));
    return {std::move(way), divide(std::move(score))};
  }
};

std::vector<Index> draw_rows(Index n, Index most, Stream& stream) {
  std::vector<Index> out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), Index{0});
  draw_to_front(out, std::min(n, most), stream);
  out.resize(static_cast<std::size_t>(std::min(n, most)));
  return out;
}

Buffer residuals_of(const FeatureProblem& problem, const FeatureState& state, Index b) {
  return residuals(local_model(problem, state), *problem.rows.open(b), *state.presence[b], problem.pool);
}

Index room(const FeatureProblem& problem, const FeatureState& state, Index most) {
  return problem.prior.most() > 0 ? std::min(most, problem.prior.most() - state.k()) : most;
}

// The presence of the batch of these residuals, with the new features added.
std::shared_ptr<const Presence> begin(const Presence& before, const Residuals& residuals, int first_id,
                                      const std::vector<Beginning>& beginnings) {
  auto out = std::make_shared<Presence>();
  for (Index i = 0; i < before.rows(); ++i) {
    for (Index e = before.start[i]; e < before.start[i + 1]; ++e)
      out->add(before.feature[e], before.value[e]);
    int id = first_id;
    for (const Beginning& at : beginnings)
      out->add(id++, at.has(residuals.r.data() + i * residuals.d) ? first_presence : 1 - first_presence);
    out->end_row();
  }
  return out;
}

// The ELBO that a proposal must exceed. More empty sticks raise L_π a little by themselves, which is no
// reason to add features and is therefore required in addition.
double to_beat(const FeatureProblem& problem, const FeatureState& state, Index more) {
  Vec padded = counts_of(problem, state.total);
  padded.resize(padded.size() + static_cast<std::size_t>(more));
  const double empty = problem.prior.fit(padded, state.total.scalar[n_rows], {}).value;
  return state.elbo + rounding_of(state.elbo) + std::max(0.0, empty - state.weights.value);
}

// Residuals of rows drawn from all batches.
Residuals sample_residuals(const FeatureProblem& problem, const FeatureState& state, Stream& stream) {
  const Index d = problem.rows.d;
  std::vector<Index> drawn = draw_rows(problem.rows.n, most_rows_of_many, stream);
  std::sort(drawn.begin(), drawn.end());
  Residuals out{d, {}, draw_rows(static_cast<Index>(drawn.size()), most_rows_of_many, stream)};
  auto at = drawn.begin();
  for (Index b = 0, from = 0, end = 0; b < problem.rows.n_batches(); ++b, from = end) {
    end = from + problem.rows.batch_rows[b];
    if (at == drawn.end() || *at >= end) continue;
    const Buffer r = residuals_of(problem, state, b);
    for (; at != drawn.end() && *at < end; ++at)
      out.r.insert(out.r.end(), r.begin() + (*at - from) * d, r.begin() + (*at - from + 1) * d);
  }
  return out;
}

// Directions along which scores clearly form two groups, clearest first.
std::vector<Beginning> clear_beginnings(const FeatureProblem& problem, const Residuals& residuals, Index most,
                                        Stream& stream) {
  std::vector<Beginning> out;
  for (Vec& way : independent_directions(residuals.r, residuals.d, residuals.sample, stream, problem.pool)) {
    problem.pool.poll();
    Beginning at = residuals.beginning(std::move(way));
    if (at.sides.explained > clear) out.push_back(std::move(at));
  }
  std::stable_sort(out.begin(), out.end(), [](const Beginning& x, const Beginning& y) {
    return x.sides.explained > y.sides.explained;
  });
  if (static_cast<Index>(out.size()) > most) out.resize(static_cast<std::size_t>(most));
  return out;
}

}  // namespace

bool try_birth(const FeatureProblem& problem, FeatureState& state, Index b, Direction kind, Stream stream) {
  if (room(problem, state, 1) < 1 || state.presence[b]->rows() < 2) return false;
  Residuals residuals{problem.rows.d, residuals_of(problem, state, b),
                      draw_rows(state.presence[b]->rows(), most_rows, stream)};
  FeatureState proposal = state;
  append_features(proposal, 1);
  proposal.presence[b] = begin(*state.presence[b], residuals, proposal.id.back(),
                               {residuals.beginning(residual_direction(
                                   residuals.r, residuals.d, residuals.sample, kind, stream, problem.pool))});
  proposal.loadings.k = proposal.total.k;
  visit_batch(problem, proposal, b, {0});
  renew(problem, proposal);
  const double aim = to_beat(problem, state, 1);
  double earlier = proposal.elbo;
  for (Index round = 1; round <= most_rounds; ++round) {
    visit_batch(problem, proposal, b, {});
    renew(problem, proposal);
    if (!std::isfinite(proposal.elbo)) return false;
    const double lacking = aim - proposal.elbo;
    if (round >= fewest_rounds) {
      if (lacking < 0) {
        accept(problem, state, std::move(proposal));
        return true;
      }
      if (2 * (proposal.elbo - earlier) * static_cast<double>(most_rounds - round) < lacking) return false;
    }
    earlier = proposal.elbo;
  }
  return false;
}

Index try_births(const FeatureProblem& problem, FeatureState& state, Index most, Stream stream) {
  most = room(problem, state, most);
  if (most < 2) return 0;
  const std::vector<Beginning> beginnings =
      clear_beginnings(problem, sample_residuals(problem, state, stream), most, stream);
  const Index more = static_cast<Index>(beginnings.size());
  if (more < 2) return 0;
  FeatureState proposal = state;
  append_features(proposal, more);
  proposal.loadings.k = proposal.total.k;
  for (Index b = 0; b < problem.rows.n_batches(); ++b) {
    proposal.presence[b] = begin(*state.presence[b], {problem.rows.d, residuals_of(problem, state, b), {}},
                                 proposal.id[proposal.id.size() - beginnings.size()], beginnings);
    visit_batch(problem, proposal, b, {0});
  }
  renew(problem, proposal);
  if (!overtakes(problem, proposal, to_beat(problem, state, more))) return 0;
  accept(problem, state, std::move(proposal));
  return more;
}

}  // namespace bnpvi::features
