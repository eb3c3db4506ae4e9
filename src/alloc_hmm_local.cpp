#include <algorithm>
#include <cmath>

#include "alloc_hmm.h"
#include "chain_pass.h"

namespace bnpvi {

Summary HmmAlloc::local_step(const LocalInput& given) const {
  Weights weights = given.weights;
  weights.pack(given.obs, given.data);
  const LocalInput in{given.data,    given.units, given.obs,   weights,
                      given.globals, given.pool,  given.width, given.sink};
  const Chain chain = expected_chain(in.globals);
  const SummaryShape s = shape(in.obs);
  return sum_pieces(in, Summary(s, chain.k),
                    [&](const Piece& piece, Pool* pool) { return ChainPass(in, chain, s, piece, pool); });
}

Summary HmmAlloc::summarise(const LocalInput& in, const GivenResponsibilities& resp) const {
  const Index k = in.weights.k;
  Summary out(shape(in.obs), k);
  FeatureBlock block(in.obs, in.data);
  FeatureSum sum(in.obs, in.data, k);
  Responsibilities r;
  r.k = r.width = k;
  for (Index unit : in.units) {
    SequenceRows s;
    s.append(in.data, unit, in.obs.lag());
    for (Index from = 0; from < s.size(); from += block.block_rows()) {
      in.pool.poll();
      const Index* rows = s.rows.data() + from;
      r.n = std::min(block.block_rows(), s.size() - from);
      r.value.resize(static_cast<std::size_t>(r.n * k));
      for (Index i = 0; i < r.n; ++i)
        for (Index j = 0; j < k; ++j) {
          const double x = resp(rows[i], j);
          r.value[i * k + j] = x;
          if (x > 0) out.entropy() -= x * std::log(x);
          if (from + i == 0) out.extra[j] += x;
          if (from + i == 0 || x == 0) continue;
          for (Index l = 0; l < k; ++l) out.pair[l * k + j] += resp(rows[i] - 1, l) * x;
        }
      block.load(rows, r.n);
      block.add_weighted(r, sum);
    }
  }
  sum.finish(out.obs.data());
  return out;
}

}  // namespace bnpvi
