#include "alloc_mixture.h"

#include <algorithm>
#include <cmath>

#include "chunks.h"
#include "move.h"

namespace bnpvi {

SummaryShape MixtureAlloc::shape(const ObsModel& obs) const { return {obs.n_features(), 0, false, 1}; }

Globals MixtureAlloc::global_step(const Summary& total, const Globals&) const { return {total, {}, {}}; }

Globals MixtureAlloc::stochastic_step(const Globals& from, const Summary& noisy, double rate) const {
  Globals out = from;
  out.effective.scale(1 - rate);
  out.effective.add(noisy, rate);
  return out;
}

namespace {

// Sums φ and the entropy over the units, chunk by chunk; fill(rows, n, block, r, entropy) gives the
// responsibilities of the n rows loaded in the block.
template <class Fill>
Summary sum_units(const LocalInput& in, Index k, const SummaryShape& shape, Fill fill) {
  const Index n = static_cast<Index>(in.units.size()), n_chunks = count_chunks(n);
  if (in.sink) in.sink->begin(n_chunks);
  std::vector<FeatureSum> sums(static_cast<std::size_t>(n_chunks), FeatureSum(in.obs, in.data, k));
  Vec entropy(static_cast<std::size_t>(n_chunks), 0.0);
  in.pool.run(n_chunks, [&](Index chunk) {
    FeatureBlock block(in.obs, in.data);
    Responsibilities r;
    const Index end = chunk_end(n, n_chunks, chunk);
    for (Index from = chunk_begin(n, n_chunks, chunk); from < end; from += block.block_rows()) {
      in.pool.poll();
      const Index* rows = in.units.data() + from;
      block.load(rows, std::min(block.block_rows(), end - from));
      fill(rows, block, r, entropy[chunk]);
      block.add_weighted(r, sums[chunk]);
      if (in.sink) in.sink->visit(chunk, rows, r, block);
    }
  });
  Summary out(shape, k);
  for (Index chunk = 0; chunk < n_chunks; ++chunk) {
    sums[chunk].finish(out.obs.data());
    out.entropy() += entropy[chunk];
  }
  return out;
}

}  // namespace

Summary MixtureAlloc::local_step(const LocalInput& in) const {
  const Index k = in.weights.k;
  const Vec log_pi = expected_log_weights(in.globals.effective.sizes());
  return sum_units(in, k, shape(in.obs),
                   [&](const Index*, FeatureBlock& block, Responsibilities& r, double& entropy) {
                     Vec w(static_cast<std::size_t>(block.n() * k));
                     block.times(in.weights, w.data());
                     for (Index i = 0; i < block.n(); ++i)
                       for (Index j = 0; j < k; ++j) w[i * k + j] += log_pi[j];
                     normalise(block.n(), k, w, in.width, r, entropy);
                   });
}

Summary MixtureAlloc::summarise(const LocalInput& in, const double* resp) const {
  const Index k = in.weights.k;
  return sum_units(in, k, shape(in.obs),
                   [&](const Index* rows, FeatureBlock& block, Responsibilities& r, double& entropy) {
                     r.n = block.n();
                     r.k = r.width = k;
                     r.sparse = false;
                     r.value.resize(static_cast<std::size_t>(r.n * k));
                     for (Index i = 0; i < r.n; ++i)
                       for (Index j = 0; j < k; ++j) {
                         const double x = resp[j * in.data.n + rows[i]];
                         r.value[i * k + j] = x;
                         if (x > 0) entropy -= x * std::log(x);
                       }
                   });
}

std::unique_ptr<Move> MixtureAlloc::birth_move(const MoveContext& c) const { return make_mixture_birth(c, *this); }
std::unique_ptr<Move> MixtureAlloc::merge_move(const MoveContext& c) const { return make_merge(c); }
std::unique_ptr<Move> MixtureAlloc::delete_move(const MoveContext& c) const {
  return make_mixture_delete(c, *this);
}
std::unique_ptr<Move> MixtureAlloc::resplit_move(const MoveContext& c) const {
  return make_mixture_resplit(c, *this);
}

}  // namespace bnpvi
