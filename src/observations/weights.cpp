#include "observations/weights.h"

#include <algorithm>

#include "kernels/kernels.h"
#include "observations/named_clusters.h"

namespace bnpvi {

namespace {
constexpr double never = -1e300;  // log weight of a cluster that receives no row
}  // namespace

Weights make_weights(const ObsModel& obs, const double* t, Index k, Pool* pool, double* evidence,
                     bool products, const std::vector<int>& names) {
  Weights out;
  out.k = k;
  out.p = obs.n_features();
  out.w.resize(static_cast<std::size_t>(k * out.p));
  constexpr double special =
      // A guess: the cost of a digamma function, or of a step of a factorisation, in products.
      20;
  if (pool) pool->spend(special * static_cast<double>(k * out.p));
  const LearnedPrior* prior = obs.capabilities().prior;
  const bool empties_stay = prior && prior->has_occupied_term();
  for_each_part(pool, k, [&](Index j) {
    const double* statistic = t + j * out.p;
    double* w = out.w.data() + j * out.p;
    const ObsModel& model = names.empty() ? obs : under_name(obs, names[j]);
    if (evidence)
      evidence[j] = model.evidence_and_weights(statistic, w);
    else
      model.weights(statistic, w);
    if (empties_stay && statistic[0] == 0) w[0] = never;
  });
  if (products && has_entries(obs)) out.transpose(pool);
  return out;
}

Vec expecting_weights(const ObsModel& obs, const double* t) {
  if (!obs.capabilities().cells) return {};
  Vec w(static_cast<std::size_t>(obs.n_features()));
  obs.weights(t, w.data());
  return w;
}

void Weights::transpose(Pool* pool) {
  constexpr Index step = 32;  // features in each task: a guess
  transposed.resize(w.size());
  for_each_part(pool, (p + step - 1) / step, [&](Index part) {
    const Index from = part * step;
    kernels().transpose_rows(k, std::min(step, p - from), w.data() + from, p, transposed.data() + from * k,
                             k);
  });
}

void Weights::add_constants(const Vec& c) {
  for (Index j = 0; j < k; ++j) w[j * p] += c[j];
  if (transposed.empty()) return;
  for (Index j = 0; j < k; ++j) transposed[j] += c[j];
}

void Weights::pack(const ObsModel& obs, const DataShape& data) {
  if (by_sparse_rows(obs, data)) return;
  packed.resize(static_cast<std::size_t>(kernels().packed_size(k, n_dense(obs))));
  kernels().pack(k, n_dense(obs), w.data(), p, packed.data());
}

}  // namespace bnpvi
