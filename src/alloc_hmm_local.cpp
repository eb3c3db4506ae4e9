#include <algorithm>
#include <cmath>

#include "alloc_hmm.h"
#include "chain_pass.h"

namespace bnpvi {

namespace {

// Runs the sequences at positions begin .. end-1 of the batch in groups of at most ChainPass::segment_rows.
void run_sequences(const LocalInput& in, const Piece& piece, ChainPass& pass) {
  SequenceRows group, next;
  for (Index i = piece.begin; i < piece.end; ++i) {
    in.pool.poll();
    next.clear();
    next.append(in.data, in.units[i], in.obs.lag());
    if (group.size() > 0 && group.size() + next.size() > ChainPass::segment_rows) {
      pass.run(group);
      group.clear();
    }
    group.rows.insert(group.rows.end(), next.rows.begin(), next.rows.end());
    group.first.insert(group.first.end(), next.first.begin(), next.first.end());
  }
  pass.run(group);
}

}  // namespace

Summary HmmAlloc::local_step(const LocalInput& given) const {
  Weights weights = given.weights;
  weights.pack(given.obs, given.data);
  const LocalInput in{given.data,    given.units, given.obs,   weights,
                      given.globals, given.pool,  given.width, given.sink};
  const Chain chain = expected_chain(in.globals);
  const SummaryShape s = shape(in.obs);
  const std::vector<Piece> pieces = cut_into_pieces(in.data, in.units, in.obs.lag());
  if (in.sink) in.sink->begin(pieces.empty() ? 0 : pieces.back().first_chunk + pieces.back().parts);
  std::vector<Summary> found(pieces.size());
  std::vector<Index> shorter;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].parts == 1) {
      shorter.push_back(static_cast<Index>(i));
      continue;
    }
    ChainPass pass(in, chain, pieces[i], &in.pool);
    run_sequences(in, pieces[i], pass);
    found[i] = pass.finish(s);
  }
  in.pool.run(static_cast<Index>(shorter.size()), [&](Index task) {
    const std::size_t i = static_cast<std::size_t>(shorter[task]);
    ChainPass pass(in, chain, pieces[i], nullptr);
    run_sequences(in, pieces[i], pass);
    found[i] = pass.finish(s);
  });
  Summary out(s, chain.k);
  for (const Summary& part : found) out.add(part);
  return out;
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
