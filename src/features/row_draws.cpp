#include "features/row_draws.h"

#include <numeric>

#include "features/row_step.h"
#include "foundation/chunks.h"

namespace bnpvi::features {

namespace {

// Sums over draws of one row's features.
struct DrawnRow {
  Vec z_sum, z_z;  // Σ z, and Σ z zᵀ of its features, K × K
};

// mean, variance and spread of the cells of a row from sums over `draws`.
void put_moments(const LocalModel& model, const DrawnRow& drawn, Index draws, double* mean, double* variance,
                 double* spread) {
  const Index k = model.k(), d = model.rows.d;
  const double* m = model.loadings.m.data();
  const double share = 1 / static_cast<double>(draws);
  std::vector<Index> some;  // features that were drawn at all
  for (Index j = 0; j < k; ++j)
    if (drawn.z_sum[j] > 0) some.push_back(j);
  Vec of_group(static_cast<std::size_t>(model.rows.n_groups()));
  for (Index g = 0; g < model.rows.n_groups(); ++g) {
    const Vec& inverse = model.loadings.v_inverse[g];
    if (inverse.empty()) continue;
    for (Index a : some)
      for (Index b : some) of_group[g] += share * drawn.z_z[a * k + b] * inverse[a * k + b];
  }
  for (Index e = 0; e < d; ++e) {
    double first = 0, second = 0;
    for (Index a : some) {
      first += share * drawn.z_sum[a] * m[a * d + e];
      double inner = 0;
      for (Index b : some) inner += drawn.z_z[a * k + b] * m[b * d + e];
      second += share * m[a * d + e] * inner;
    }
    mean[e] = first;
    variance[e] = std::max(0.0, second - first * first);
    spread[e] = of_group[model.rows.group[e]];
  }
}

}  // namespace

CellMoments draw_cells(const LocalModel& model, const RowBatch& batch, const Presence& presence, Index draws,
                       Pool& pool) {
  const Index n = batch.n, d = model.rows.d, k = model.k(), idle = draws / 5;
  const auto size = static_cast<std::size_t>(n * d);
  CellMoments out{Buffer(size), Buffer(size), Buffer(size)};
  if (k == 0) return out;
  const std::vector<int> place = places_of(model.id);
  const Index chunks = count_chunks(n, k * k);
  pool.run(chunks, [&](Index chunk) {
    RowStep step(model, batch);
    Vec z(static_cast<std::size_t>(k)), g(z);
    DrawnRow drawn;
    for (Index i = chunk_begin(n, chunks, chunk); i < chunk_end(n, chunks, chunk); ++i) {
      pool.poll();
      for (Index j = 0; j < k; ++j)
        g[j] = model.loadings.tau() *
               std::inner_product(batch.row(i), batch.row(i) + d, model.loadings.m.data() + j * d, 0.0);
      std::fill(z.begin(), z.end(), 0.0);
      if (model.offset) z[0] = 1;
      for (Index e = presence.start[i]; e < presence.start[i + 1]; ++e)
        z[model.offset + place[presence.feature[e]]] = presence.value[e] > 0.5;
      step.begin(i, g.data());
      step.set(z.data());
      drawn.z_sum.assign(z.size(), 0.0);
      drawn.z_z.assign(z.size() * z.size(), 0.0);
      Stream stream(0, Purpose::held_out);
      for (Index sweep = 0; sweep < idle + draws; ++sweep) {
        step.draw(stream);
        if (sweep < idle) continue;
        for (Index a = 0; a < k; ++a) {
          if (step.nu()[a] == 0) continue;
          drawn.z_sum[a] += 1;
          for (Index b = 0; b < k; ++b) drawn.z_z[a * k + b] += step.nu()[b];
        }
      }
      put_moments(model, drawn, draws, out.mean.data() + i * d, out.variance.data() + i * d,
                  out.spread.data() + i * d);
    }
  });
  return out;
}

}  // namespace bnpvi::features
