#include <algorithm>
#include <cmath>
#include <numeric>

#include "chains/model/chain_pass.h"
#include "chains/model/hmm.h"
#include "chains/model/sparse_chain_pass.h"
#include "chains/trees/tree_pass.h"
#include "kernels/kernels.h"

namespace bnpvi::chains {

namespace {

// Cost in multiplications (Pool::spend()): the products of rows with the states' weights, messages, and pairs
// of states.
double cost_of_sequences(const Visit& in, Index k, Index width) {
  constexpr double pairs =
      1;  // products that take as long as messages and statistics of a pair of states: a guess
  Index rows = 0, stored = 0;
  for (Index unit : in.units) {
    const Index from = in.data.starts[unit], to = in.data.starts[unit + 1];
    rows += to - from;
    if (in.data.sparse()) stored += static_cast<Index>(in.data.row_start[to] - in.data.row_start[from]);
  }
  const Index l = width > 0 ? std::min(width, k) : k;
  return cost_of_rows(in.obs, in.data, rows, stored, k) +
         pairs * static_cast<double>(rows) * static_cast<double>(l * l);
}

// A memory in which every row has all K ≤ L states.
std::shared_ptr<UnitMemory> all_states(const Visit& in, Index k) {
  auto memory = chain_memory(in.data, in.units, in.obs.capabilities().lag, k);
  for (Index row = 0; row < memory->row_start.back(); ++row)
    std::iota(memory->support.of(row), memory->support.of(row) + k, 0);
  return memory;
}

// Stores for each row the set of states with the largest positive responsibilities.
void remember(const double* r, Index k, Index width, int* state) {
  kernels().largest_rows(1, k, r, k, width, state);
  std::replace_if(
      state, state + width, [r](int j) { return !(r[j] > 0); }, -1);
}

}  // namespace

Summary HmmAlloc::step(const Visit& given, bool same_sets) const {
  Summary out = summary_of_visit(given, same_sets);
  out.owner = given.globals.effective.owner;
  return out;
}

Summary HmmAlloc::summary_of_visit(const Visit& given, bool same_sets) const {
  const auto weights = std::make_shared<Weights>(*given.weights);
  weights->pack(given.obs, given.data);
  Visit in = given;
  in.weights = weights;
  const Chain chain = expected_chain(in.globals);
  const SummaryShape s = shape(in.obs);
  in.pool.spend(cost_of_sequences(in, chain.k, width()));
  if (in.data.back)
    return sum_pieces(in, Summary(s, chain.k),
                      [&](const Piece& piece, Pool* pool) { return TreePass(in, chain, s, piece, pool); });
  if (width() == 0 || width() >= chain.k) {
    Summary out = sum_pieces(in, Summary(s, chain.k), [&](const Piece& piece, Pool* pool) {
      return ChainPass(in, chain, s, piece, pool);
    });
    if (width() > 0) out.memory = all_states(in, chain.k);
    return out;
  }
  auto memory = chain_memory(in.data, in.units, in.obs.capabilities().lag, width());
  Summary out = sum_pieces(in, Summary(s, chain.k), [&](const Piece& piece, Pool* pool) {
    return SparseChainPass(in, chain, s, piece, pool, *memory, same_sets);
  });
  out.memory = memory;
  return out;
}

Summary HmmAlloc::summarise(const Visit& in, const GivenResponsibilities& resp) const {
  const Index k = resp.k();
  Summary out(shape(in.obs), k);
  FeatureBlock block(in.obs, in.data);
  FeatureSum sum(in.obs, in.data, k);
  if (in.weights && !in.weights->w.empty()) sum.expect_under(*in.weights);
  Responsibilities r;
  r.k = r.width = k;
  const Index L = std::min(width(), k);
  auto memory = chain_memory(in.data, in.units, in.obs.capabilities().lag, L);
  Index position = 0;
  for (Index unit : in.units) {
    const double weight = in.data.weight_of_group(unit);
    SequenceRows s;
    s.append(in.data, unit, in.obs.capabilities().lag);
    for (Index from = 0; from < s.size(); from += block.block_rows()) {
      in.pool.poll();
      const Index* rows = s.rows.data() + from;
      r.n = std::min(block.block_rows(), s.size() - from);
      r.value.resize(static_cast<std::size_t>(r.n * k));
      for (Index i = 0; i < r.n; ++i)
        for (Index j = 0; j < k; ++j) {
          const double x = resp(rows[i], j);
          r.value[i * k + j] = weight * x;
          if (x > 0) out.entropy() -= weight * x * std::log(x);
          const Index parent = rows[i] - steps_to_parent(in.data.back, rows[i], s.rows[0]);
          if (parent == rows[i]) out.extra[j] += weight * x;
          if (parent == rows[i] || x == 0) continue;
          const Index position = position_of(in.data.position, rows[i]);
          for (Index l = 0; l < k; ++l) out.of_pair(l, j, position) += weight * resp(parent, l) * x;
        }
      block.load(rows, r.n);
      block.add_weighted(r, sum);
      for (Index i = 0; L > 0 && i < r.n; ++i)
        remember(r.value.data() + i * k, k, L, memory->support.of(position++));
    }
  }
  if (L > 0) out.memory = memory;
  sum.finish(out.edit_t(0));
  if (prior_.pattern) prior_.pattern->leave_out_forbidden(out);
  return out;
}

}  // namespace bnpvi::chains
