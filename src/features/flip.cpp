#include <algorithm>
#include <numeric>

#include "features/moves.h"
#include "inference/move.h"

namespace bnpvi::features {

namespace {

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

Presence flipped(const Presence& before, int id) {
  Presence out;
  for (Index i = 0; i < before.rows(); ++i) {
    double nu = 0;
    for (Index e = before.start[i]; e < before.start[i + 1]; ++e) {
      if (before.feature[e] == id)
        nu = before.value[e];
      else
        out.add(before.feature[e], before.value[e]);
    }
    if (nu < 1) out.add(id, 1 - nu);
    out.end_row();
  }
  return out;
}

}  // namespace

Index flip_features(const FeatureProblem& problem, FeatureState& state) {
  Index n = 0;
  if (!problem.offset || has_settled(problem, state)) return 0;
  for (Index j = 0; j < state.k(); ++j) {
    if (!(state.total.size(j + 1) > state.total.scalar[n_rows] / 2)) continue;
    FeatureState proposal = state;
    flip(proposal.total, j + 1);
    renew(problem, proposal, false);
    if (!(proposal.elbo > state.elbo + rounding_of(state.elbo))) continue;
    for (Index b = 0; b < problem.rows.n_batches(); ++b) {
      auto changed = std::make_shared<Summary>(*state.batch[b]);
      flip(*changed, j + 1);
      proposal.batch[b] = std::move(changed);
      proposal.presence[b] = std::make_shared<const Presence>(flipped(*state.presence[b], state.id[j]));
    }
    add_gram(problem.rows, proposal.loadings);
    state = std::move(proposal);
    ++n;
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
