#include "chains/model/sequence_rows.h"

#include <algorithm>
#include <stdexcept>

#include "chains/messages/messages.h"

namespace bnpvi::chains {

namespace {

// Length from which threads always share a sequence, and length from which they do so if it has most of all
// rows. Guesses: several sequences are better passed side by side, since no recursion has to be shared, and
// below 2^12 rows a lap takes less than a millisecond.
constexpr Index long_rows = Index{1} << 15, long_alone = Index{1} << 12;
constexpr double most_of_all = 0.75;
constexpr Index most_parts = 8;  // chunks of such a sequence: a guess

}  // namespace

void SequenceRows::append(const Dataset& data, Index group, Index lag) {
  const Index begin = data.starts[group] + lag;
  for (Index i = begin; i < data.starts[group + 1]; ++i) {
    first.push_back(steps_to_parent(data.back, i, begin) == 0);
    rows.push_back(i);
    if (data.back) back.push_back(data.back[i]);
    if (data.position) position.push_back(data.position[i]);
  }
}

void SequenceRows::append(const SequenceRows& more) {
  rows.insert(rows.end(), more.rows.begin(), more.rows.end());
  first.insert(first.end(), more.first.begin(), more.first.end());
  back.insert(back.end(), more.back.begin(), more.back.end());
  position.insert(position.end(), more.position.begin(), more.position.end());
}

void SequenceRows::clear() {
  rows.clear();
  first.clear();
  back.clear();
  position.clear();
}

Index modelled_length(const Dataset& data, Index group, Index lag) {
  return std::max<Index>(0, data.starts[group + 1] - data.starts[group] - lag);
}

std::vector<Piece> cut_into_pieces(const Dataset& data, const std::vector<Index>& units, Index lag,
                                   Index numbers) {
  Index short_rows = 0;
  for (Index unit : units) {
    const Index n = modelled_length(data, unit, lag);
    if (n < long_rows) short_rows += n;
  }
  const auto shared = [&](Index n) {
    return n >= long_rows ||
           (n >= long_alone && static_cast<double>(n) > most_of_all * static_cast<double>(short_rows));
  };
  Index apart = 0;
  for (Index unit : units)
    if (const Index n = modelled_length(data, unit, lag); n < long_rows && shared(n)) apart = n;
  const Index rest = short_rows - apart, target = rest / count_chunks(rest, numbers);

  std::vector<Piece> pieces;
  Index chunk = 0, rows = 0;
  Piece open;
  const auto close = [&](Index end, Index parts) {
    if (open.begin < end) {
      open.end = end;
      open.first_chunk = chunk;
      open.parts = parts;
      chunk += parts;
      pieces.push_back(open);
    }
    open.begin = end;
    rows = 0;
  };
  for (Index i = 0; i < static_cast<Index>(units.size()); ++i) {
    const Index n = modelled_length(data, units[i], lag);
    if (shared(n)) {
      close(i, 1);
      close(i + 1, most_parts);
    } else if ((rows += n) >= target) {
      close(i + 1, 1);
    }
  }
  close(static_cast<Index>(units.size()), 1);
  return pieces;
}

void exclude_forbidden(const FeatureBlock& block, Index n, const std::vector<int>& owner, double* log_e) {
  if (owner.empty() || !block.labelled()) return;
  const Index k = static_cast<Index>(owner.size());
  for (Index i = 0; i < n; ++i) {
    bool any = false;
    for (Index j = 0; j < k; ++j) {
      if (block.allows(i, owner[j]))
        any = true;
      else
        log_e[i * k + j] = not_possible;
    }
    if (!any) throw std::logic_error("a row may be in none of the states");
  }
}

void log_likelihoods(FeatureBlock& block, const Weights& weights, const std::vector<int>& owner,
                     const Index* rows, Index n, double* out) {
  for (Index from = 0; from < n; from += block.block_rows()) {
    block.load(rows + from, std::min(block.block_rows(), n - from));
    block.times(weights, out + from * weights.k);
    exclude_forbidden(block, block.n(), owner, out + from * weights.k);
  }
}

PieceWork::PieceWork(const Visit& in, Index k, const Piece& piece, Pool* pool)
    : in_(in),
      k_(k),
      piece_(piece),
      pool_(pool),
      blocks_(static_cast<std::size_t>(piece.parts), FeatureBlock(in.obs, in.data)),
      sums_(static_cast<std::size_t>(piece.parts), FeatureSum(in.obs, in.data, k)) {
  for (FeatureSum& sum : sums_) sum.expect_under(*in.weights);
}

void PieceWork::collect(Index part, const Index* rows, Index n, Index width, const double* value,
                        const int* state) {
  FeatureBlock& block = blocks_[part];
  Responsibilities r;
  r.k = k_;
  r.width = width;
  r.sparse = state != nullptr;
  for (Index i = 0; i < n; i += block.block_rows()) {
    r.n = std::min(block.block_rows(), n - i);
    r.value.assign(value + i * width, value + (i + r.n) * width);
    if (r.sparse) r.cluster.assign(state + i * width, state + (i + r.n) * width);
    block.load(rows + i, r.n);
    block.add_weighted(r, sums_[part]);
    if (in_.sink) in_.sink->visit(piece_.first_chunk + part, rows + i, r, block);
  }
}

void PieceWork::finish(double* t) {
  std::vector<const FeatureSum*> all;
  for (const FeatureSum& sum : sums_) all.push_back(&sum);
  set_to_sum(all, t, pool_);
}

}  // namespace bnpvi::chains
