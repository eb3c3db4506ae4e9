#include "chains/model/sparse_chain_pass.h"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.h"

namespace bnpvi::chains {

namespace {

constexpr Index segment =
    1024;  // rows whose K log-likelihoods are in memory, and should stay in the cache: a guess

}  // namespace

SparseChainPass::SparseChainPass(const Visit& in, const Chain& chain, const SummaryShape& shape,
                                 const Piece& piece, Pool* pool, UnitMemory& memory, bool same_sets)
    : in_(in),
      chain_(chain),
      shape_(shape),
      work_(in, chain.k, piece, pool),
      last_(in.memory),
      memory_(memory),
      row_(memory.row_start[piece.begin]),
      width_(memory.support.width),
      same_sets_(same_sets),
      segments_(work_.overlaps() ? 2 : 1),
      start_count_(static_cast<std::size_t>(chain.k), 0.0),
      pair_(static_cast<std::size_t>(chain.k * chain.k), 0.0),
      log_space_pair_(pair_) {}

SparseRows SparseChainPass::view(const SequenceRows& s) {
  return {s.size(), s.first.data(), width_, state_.data(), log_e_.data()};
}

SparseChainPass::Segment& SparseChainPass::segment_at(Index row) {
  return segments_[static_cast<std::size_t>(row / segment) % segments_.size()];
}

template <class Load, class Sweep>
bool SparseChainPass::go(const SequenceRows& s, Direction direction, Load load, Sweep sweep) {
  const Index n_segments = (s.size() + segment - 1) / segment, ahead = work_.overlaps() ? 1 : 0;
  const auto begin = [&](Index i) {
    return segment * (direction == Direction::rightwards ? i : n_segments - 1 - i);
  };
  const auto length = [&](Index i) {
    return i < 0 || i == n_segments ? 0 : std::min(segment, s.size() - begin(i));
  };
  bool sure = true;
  for (Index i = 0; sure && i < n_segments + ahead; ++i) {
    const Index now = i - ahead;
    work_.for_parts(
        length(i), [&](Index part, Index from, Index n) { load(part, begin(i) + from, n); }, 1,
        [&](Index) { sure = length(now) == 0 || sweep(begin(now), length(now)); });
  }
  return sure;
}

template <class Sweep, class Use>
void SparseChainPass::go_back(const SequenceRows& s, Sweep sweep, Use use) {
  constexpr Index stretch = 8 * segment;  // rows whose statistics are added up at a time: a guess
  for (Index i = (s.size() - 1) / stretch; i >= -1; --i) {
    const Index from = i * stretch, swept = from + stretch;
    work_.for_parts(
        std::clamp<Index>(s.size() - swept, 0, stretch),
        [&](Index part, Index first, Index n) { use(part, swept + first, n); }, 1,
        [&](Index) {
          if (i >= 0) sweep(from, std::min(stretch, s.size() - from));
        });
  }
}

void SparseChainPass::load_all(const SequenceRows& s, Index part, Index from, Index n) {
  const Index k = chain_.k, at = from % segment;
  Segment& x = segment_at(from);
  log_likelihoods(work_.block(part), *in_.weights, in_.globals.effective.owner, s.rows.data() + from, n,
                  x.log_e.data() + at * k);
  kernels().exp_rows(n, k, x.log_e.data() + at * k, k, x.e.data() + at * k, k, x.top.data() + at);
}

void SparseChainPass::load_sets(const SequenceRows& s, Index part, Index from, Index n) {
  FeatureBlock& block = work_.block(part);
  for (Index i = from, end = from + n; i < end; i += block.n()) {
    block.load(s.rows.data() + i, std::min(block.block_rows(), end - i));
    block.times_own(*in_.weights, state_.data() + i * width_, width_, log_e_.data() + i * width_);
    if (block.labelled()) exclude_from_sets(block, i);
  }
}

void SparseChainPass::exclude_from_sets(const FeatureBlock& block, Index from) {
  const std::vector<int>& owner = in_.globals.effective.owner;
  for (Index i = 0; i < block.n(); ++i)
    for (Index l = (from + i) * width_; l < (from + i + 1) * width_; ++l)
      if (!block.allows(i, owner[state_[l]])) log_e_[l] = not_possible;
}

void SparseChainPass::recall(const SequenceRows& s, Index part, Index from, Index n) {
  for (Index t = from; t < from + n; ++t)
    fill_set(last_->support, row_ + t, chain_.k, width_, state_.data() + t * width_);
  load_sets(s, part, from, n);
}

void SparseChainPass::make_set_potentials(Index from, Index n, bool log_space) {
  double *log_e = log_e_.data() + from * width_, *e = e_.data() + from * width_, *top = scale_.data() + from;
  kernels().exp_rows(n, width_, log_e, width_, e, width_, top);
  const double lowest = log_space ? -HUGE_VAL : Chain::lowest, least = std::exp(Chain::lowest);
  for (Index t = 0; t < n; ++t)
    for (Index i = t * width_; i < (t + 1) * width_; ++i) {
      log_e[i] -= top[t];
      e[i] = is_possible(log_e[i]) ? std::max(e[i], least) : 0;
      if (is_possible(log_e[i])) log_e[i] = std::max(log_e[i], lowest);
    }
}

template <class Numbers>
bool SparseChainPass::choose(const SequenceRows& s, bool log_space) {
  SparseMessages<Numbers> messages(chain_, width_);
  const SparseRows rows = view(s);
  const bool sure = go(
      s, Direction::rightwards,
      [&](Index part, Index from, Index n) {
        if (!last_) return load_all(s, part, from, n);
        recall(s, part, from, n);
        make_set_potentials(from, n, log_space);
      },
      [&](Index from, Index n) {
        if (last_) return messages.forward(rows, from, n, e_.data(), alpha_.data(), scale_.data());
        const Segment& x = segment_at(from);
        return messages.choose_forward(rows, from, n, x.log_e.data(), x.e.data(), alpha_.data());
      });
  if (!sure) return false;
  return go(
      s, Direction::leftwards,
      [&](Index part, Index from, Index n) {
        if (last_ || s.size() > segment) load_all(s, part, from, n);
      },
      [&](Index from, Index n) {
        const Segment& x = segment_at(from);
        return messages.choose_backward(rows, from, n, x.log_e.data(), x.e.data(), alpha_.data());
      });
}

template <class Numbers>
bool SparseChainPass::pass(const SequenceRows& s, bool log_space) {
  SparseMessages<Numbers> messages(chain_, width_);
  const SparseRows rows = view(s);
  const bool sure = go(
      s, Direction::rightwards,
      [&](Index part, Index from, Index n) {
        if (same_sets_)
          recall(s, part, from, n);
        else if (log_space)
          load_sets(s, part, from, n);  // as the floors have changed them
        make_set_potentials(from, n, log_space);
      },
      [&](Index from, Index n) {
        return messages.forward(rows, from, n, e_.data(), alpha_.data(), scale_.data());
      });
  if (!sure) return false;
  typename SparseMessages<Numbers>::Counts counts{start_count_.data(),
                                                  (log_space ? log_space_pair_ : pair_).data(), 0};
  std::function<void(Index, const double*)> tell;
  if (in_.sink && in_.sink->wants_joint())
    tell = [&](Index t, const double* joint) { tell_joint(s, t, joint); };
  go_back(
      s,
      [&](Index from, Index n) {
        messages.backward(rows, from, n, e_.data(), alpha_.data(), scale_.data(), e_.data(), counts, tell);
      },
      [&](Index part, Index from, Index n) { collect(s, part, from, n); });
  entropy_ += counts.entropy;
  return true;
}

void SparseChainPass::collect(const SequenceRows& s, Index part, Index from, Index n) {
  for (Index t = from; t < from + n; ++t)
    std::copy_n(state_.data() + t * width_, width_, memory_.support.of(row_ + t));
  work_.collect(part, s.rows.data() + from, n, width_, e_.data() + from * width_,
                state_.data() + from * width_);
}

void SparseChainPass::tell_joint(const SequenceRows& s, Index t, const double* joint) {
  Vec all(static_cast<std::size_t>(chain_.k * chain_.k), 0.0);
  const int *to = state_.data() + t * width_, *from = to - width_;
  for (Index j = 0; j < width_; ++j)
    for (Index l = 0; l < width_; ++l) all[from[j] * chain_.k + to[l]] = joint[j * width_ + l];
  in_.sink->visit_joint(s.rows[t], all);
}

void SparseChainPass::run(const SequenceRows& s) {
  const std::size_t n = static_cast<std::size_t>(s.size()), l = static_cast<std::size_t>(width_),
                    k = static_cast<std::size_t>(chain_.k);
  if (n == 0) return;
  if (scale_.size() < n) {
    for (Buffer* x : {&log_e_, &e_, &alpha_}) x->resize(n * l);
    state_.resize(n * l);
    scale_.resize(n);
    for (Segment& x : segments_) {
      x.top.resize(std::min(n, static_cast<std::size_t>(segment)));
      for (Buffer* y : {&x.log_e, &x.e}) y->resize(x.top.size() * k);
    }
  }
  if (!same_sets_ && !choose<ScaledNumbers>(s, false)) choose<LogNumbers>(s, true);
  if (!pass<ScaledNumbers>(s, false)) pass<LogNumbers>(s, true);
  row_ += s.size();
}

Summary SparseChainPass::finish() {
  Summary out(shape_, chain_.k);
  work_.finish(out.edit_t(0));
  out.extra = start_count_;
  out.entropy() = entropy_;
  for (std::size_t i = 0; i < pair_.size(); ++i) {
    const double log_p = chain_.log_transition[i];
    out.entropy() -= pair_[i] * std::max(log_p, Chain::lowest) + log_space_pair_[i] * log_p;
    out.pair[i] = pair_[i] + log_space_pair_[i];
  }
  return out;
}

}  // namespace bnpvi::chains
