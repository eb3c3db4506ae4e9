#include "chain_pass.h"

#include <algorithm>

#include "chunks.h"
#include "kernels.h"

namespace bnpvi {

namespace {

constexpr Index long_rows = Index{1} << 15;  // sequences worth sharing out among threads
constexpr Index most_parts = 8;

}  // namespace

void SequenceRows::append(const Dataset& data, Index group, Index lag) {
  for (Index i = data.starts[group] + lag; i < data.starts[group + 1]; ++i) {
    first.push_back(i == data.starts[group] + lag);
    rows.push_back(i);
  }
}

void SequenceRows::clear() {
  rows.clear();
  first.clear();
}

std::vector<Piece> cut_into_pieces(const Dataset& data, const std::vector<Index>& units, Index lag) {
  const auto length = [&](Index unit) {
    return std::max<Index>(0, data.starts[unit + 1] - data.starts[unit] - lag);
  };
  Index short_rows = 0;
  for (Index unit : units)
    if (length(unit) < long_rows) short_rows += length(unit);
  const Index target = short_rows / count_chunks(short_rows);

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
    const Index n = length(units[i]);
    if (n >= long_rows) {
      close(i, 1);
      close(i + 1, most_parts);
    } else if ((rows += n) >= target) {
      close(i + 1, 1);
    }
  }
  close(static_cast<Index>(units.size()), 1);
  return pieces;
}

void log_likelihoods(FeatureBlock& block, const Weights& weights, const Index* rows, Index n, double* out) {
  for (Index from = 0; from < n; from += block.block_rows()) {
    block.load(rows + from, std::min(block.block_rows(), n - from));
    block.times(weights, out + from * weights.k);
  }
}

ChainPass::ChainPass(const LocalInput& in, const Chain& chain, const Piece& piece, Pool* pool)
    : in_(in),
      chain_(chain),
      piece_(piece),
      pool_(pool),
      blocks_(static_cast<std::size_t>(piece.parts), FeatureBlock(in.obs, in.data)),
      sums_(static_cast<std::size_t>(piece.parts), FeatureSum(in.obs, in.data, chain.k)),
      pairs_(static_cast<std::size_t>(piece.parts), Vec(static_cast<std::size_t>(chain.k * chain.k), 0.0)),
      careful_pairs_(static_cast<std::size_t>(chain.k * chain.k), 0.0),
      start_count_(static_cast<std::size_t>(chain.k), 0.0) {}

template <class Task>
void ChainPass::for_parts(Index n, Task task) {
  const auto one = [&](Index part) {
    in_.pool.poll();
    const Index from = chunk_begin(n, piece_.parts, part), to = chunk_end(n, piece_.parts, part);
    if (from < to) task(part, from, to - from);
  };
  if (pool_) {
    pool_->run(piece_.parts, one);
  } else {
    for (Index part = 0; part < piece_.parts; ++part) one(part);
  }
}

void ChainPass::load(const SequenceRows& s, Index from, Index n, bool careful) {
  const Index k = chain_.k;
  for_parts(n, [&](Index part, Index begin, Index m) {
    log_likelihoods(blocks_[part], in_.weights, s.rows.data() + from + begin, m, log_e_.data() + begin * k);
    make_potentials(m, k, log_e_.data() + begin * k, e_.data() + begin * k, careful);
  });
}

void ChainPass::add_pairs(Index n) {
  const Index k = chain_.k;
  for_parts(n, [&](Index part, Index begin, Index m) {
    kernels().add_product_tn(m, k, k, alpha_.data() + begin * k, k, e_.data() + begin * k, k,
                             pairs_[part].data(), k);
  });
}

void ChainPass::collect(const SequenceRows& s, Index from, Index n) {
  const Index k = chain_.k;
  for_parts(n, [&](Index part, Index begin, Index m) {
    FeatureBlock& block = blocks_[part];
    Responsibilities r;
    r.k = r.width = k;
    for (Index i = begin; i < begin + m; i += block.block_rows()) {
      r.n = std::min(block.block_rows(), begin + m - i);
      r.value.assign(log_e_.begin() + i * k, log_e_.begin() + (i + r.n) * k);
      const Index* rows = s.rows.data() + from + i;
      block.load(rows, r.n);
      block.add_weighted(r, sums_[part]);
      if (in_.sink) in_.sink->visit(piece_.first_chunk + part, rows, r, block);
    }
  });
}

void ChainPass::tell_joint(const SequenceRows& s, Index from, Index n) {
  const Index k = chain_.k;
  Vec joint(static_cast<std::size_t>(k * k));
  for (Index t = 0; t < n; ++t) {
    if (s.first[from + t]) continue;
    for (Index l = 0; l < k; ++l)
      for (Index j = 0; j < k; ++j)
        joint[l * k + j] = alpha_[t * k + l] * chain_.transition[l * k + j] * e_[t * k + j];
    in_.sink->visit_joint(s.rows[from + t], joint);
  }
}

void ChainPass::run(const SequenceRows& s) {
  const std::size_t longest = static_cast<std::size_t>(std::min(s.size(), segment_rows)),
                    k = chain_.start.size();
  if (longest == 0) return;
  if (scale_.size() < longest) {
    log_e_.resize(longest * k);
    e_.resize(longest * k);
    alpha_.resize((longest + 1) * k);
    scale_.resize(longest);
  }
  if (!pass(s, false)) pass(s, true);
}

bool ChainPass::pass_forward(const SequenceRows& s, Index from, Index n, bool careful) {
  load(s, from, n, careful);
  const ChainRows rows{n, s.first.data() + from};
  if (!careful) return forward(chain_, rows, e_.data(), alpha_.data(), scale_.data());
  careful_forward(chain_, rows, log_e_.data(), alpha_.data(), scale_.data());
  return true;
}

bool ChainPass::pass(const SequenceRows& s, bool careful) {
  const Index k = chain_.k, n = s.size(), n_segments = (n + segment_rows - 1) / segment_rows;
  const auto begin_of = [&](Index segment) { return n * segment / n_segments; };
  Vec before(static_cast<std::size_t>(n_segments * k), 0.0);  // message before each segment
  for (Index segment = 0; segment < n_segments; ++segment) {
    const Index from = begin_of(segment), m = begin_of(segment + 1) - from;
    std::copy_n(before.begin() + segment * k, k, alpha_.begin());
    if (!pass_forward(s, from, m, careful)) return false;
    if (segment + 1 < n_segments) std::copy_n(alpha_.begin() + m * k, k, before.begin() + (segment + 1) * k);
  }
  beta_.assign(static_cast<std::size_t>(k), careful ? 0.0 : 1.0);
  for (Index segment = n_segments - 1; segment >= 0; --segment) {
    const Index from = begin_of(segment), m = begin_of(segment + 1) - from;
    if (segment + 1 < n_segments) {
      std::copy_n(before.begin() + segment * k, k, alpha_.begin());
      pass_forward(s, from, m, careful);
    }
    const ChainRows rows{m, s.first.data() + from};
    if (careful) {
      careful_backward(chain_, rows, alpha_.data(), scale_.data(), log_e_.data(), beta_.data(),
                       start_count_.data(), careful_pairs_.data(), entropy_);
    } else {
      backward(chain_, rows, alpha_.data(), scale_.data(), log_e_.data(), e_.data(), beta_.data(),
               start_count_.data(), entropy_);
      add_pairs(m);
    }
    if (in_.sink && in_.sink->wants_joint() && !careful) tell_joint(s, from, m);
    collect(s, from, m);
  }
  return true;
}

Summary ChainPass::finish(const SummaryShape& shape) {
  const Index k = chain_.k;
  Summary out(shape, k);
  for (Index part = 0; part < piece_.parts; ++part) {
    sums_[part].finish(out.obs.data());
    for (Index i = 0; i < k * k; ++i) out.pair[i] += pairs_[part][i];
  }
  out.extra = start_count_;
  out.entropy() = entropy_;
  for (Index i = 0; i < k * k; ++i) {
    const double fast = out.pair[i] * chain_.transition[i], log_p = chain_.log_transition[i];
    out.entropy() -= fast * std::max(log_p, Chain::lowest) + careful_pairs_[i] * log_p;
    out.pair[i] = fast + careful_pairs_[i];
  }
  return out;
}

}  // namespace bnpvi
