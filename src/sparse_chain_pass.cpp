#include "sparse_chain_pass.h"

#include <algorithm>
#include <cmath>

#include "kernels.h"

namespace bnpvi {

namespace {

constexpr Index segment = 1024;  // rows of which all K states are in memory: they should stay in the cache

}  // namespace

SparseChainPass::SparseChainPass(const LocalInput& in, const Chain& chain, const SummaryShape& shape,
                                 const Piece& piece, Pool* pool, ChainMemory& memory)
    : in_(in),
      chain_(chain),
      shape_(shape),
      work_(in, chain.k, piece, pool),
      last_(static_cast<const ChainMemory*>(in.memory)),
      memory_(memory),
      row_(memory.begin(piece.begin)),
      width_(in.width),
      start_count_(static_cast<std::size_t>(chain.k), 0.0),
      pair_(static_cast<std::size_t>(chain.k * chain.k), 0.0),
      careful_pair_(pair_) {}

SparseRows SparseChainPass::view(const SequenceRows& s) {
  return {s.size(), s.first.data(), width_, state_.data(), log_e_.data()};
}

// Sweeps call sweep(from, n) for one segment after the other; they end when it returns false.
template <class Sweep>
bool SparseChainPass::rightwards(const SequenceRows& s, Sweep sweep) {
  for (Index from = 0; from < s.size(); from += segment) {
    in_.pool.poll();
    if (!sweep(from, std::min(segment, s.size() - from))) return false;
  }
  return true;
}

template <class Sweep>
bool SparseChainPass::leftwards(const SequenceRows& s, Sweep sweep) {
  for (Index from = (s.size() - 1) / segment * segment; from >= 0; from -= segment) {
    in_.pool.poll();
    if (!sweep(from, std::min(segment, s.size() - from))) return false;
  }
  return true;
}

void SparseChainPass::load_all(const SequenceRows& s, Index from, Index n) {
  const Index k = chain_.k;
  work_.for_parts(n, [&](Index part, Index begin, Index m) {
    log_likelihoods(work_.block(part), in_.weights, s.rows.data() + from + begin, m,
                    log_all_.data() + begin * k);
    kernels().exp_rows(m, k, log_all_.data() + begin * k, k, e_all_.data() + begin * k, k,
                       top_.data() + begin);
  });
}

void SparseChainPass::load_sets(const SequenceRows& s) {
  rightwards(s, [&](Index from, Index n) {
    work_.for_parts(n, [&](Index part, Index begin, Index m) {
      FeatureBlock& block = work_.block(part);
      for (Index i = from + begin, end = i + m; i < end; i += block.n()) {
        block.load(s.rows.data() + i, std::min(block.block_rows(), end - i));
        block.times_own(in_.weights, state_.data() + i * width_, width_, log_e_.data() + i * width_);
      }
    });
    return true;
  });
}

void SparseChainPass::recall(const SequenceRows& s) {
  for (Index t = 0; t < s.size(); ++t) last_->fill(row_ + t, chain_.k, width_, state_.data() + t * width_);
  load_sets(s);
}

void SparseChainPass::make_set_potentials(Index n, bool careful) {
  kernels().exp_rows(n, width_, log_e_.data(), width_, e_.data(), width_, scale_.data());
  const double lowest = careful ? -HUGE_VAL : Chain::lowest, least = std::exp(Chain::lowest);
  for (Index t = 0; t < n; ++t)
    for (Index i = t * width_; i < (t + 1) * width_; ++i) {
      log_e_[i] = std::max(log_e_[i] - scale_[t], lowest);
      e_[i] = std::max(e_[i], least);
    }
}

template <class Numbers>
bool SparseChainPass::choose(const SequenceRows& s, bool careful) {
  SparseMessages<Numbers> messages(chain_, width_);
  const SparseRows rows = view(s);
  if (last_) {
    recall(s);
    make_set_potentials(s.size(), careful);
  }
  const bool sure = rightwards(s, [&](Index from, Index n) {
    if (last_) return messages.forward(rows, from, n, e_.data(), alpha_.data(), scale_.data());
    load_all(s, from, n);
    return messages.choose_forward(rows, from, n, log_all_.data(), e_all_.data(), alpha_.data());
  });
  return sure && leftwards(s, [&](Index from, Index n) {
           if (last_ || s.size() > segment) load_all(s, from, n);
           return messages.choose_backward(rows, from, n, log_all_.data(), e_all_.data(), alpha_.data());
         });
}

template <class Numbers>
bool SparseChainPass::pass(const SequenceRows& s, bool careful) {
  SparseMessages<Numbers> messages(chain_, width_);
  const SparseRows rows = view(s);
  make_set_potentials(s.size(), careful);
  const bool sure = rightwards(s, [&](Index from, Index n) {
    return messages.forward(rows, from, n, e_.data(), alpha_.data(), scale_.data());
  });
  if (!sure) return false;
  typename SparseMessages<Numbers>::Counts counts{start_count_.data(),
                                                  (careful ? careful_pair_ : pair_).data(), 0};
  std::function<void(Index, const double*)> tell;
  if (in_.sink && in_.sink->wants_joint())
    tell = [&](Index t, const double* joint) { tell_joint(s, t, joint); };
  leftwards(s, [&](Index from, Index n) {
    messages.backward(rows, from, n, e_.data(), alpha_.data(), scale_.data(), e_.data(), counts, tell);
    return true;
  });
  entropy_ += counts.entropy;
  return true;
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
    for (Vec* x : {&log_e_, &e_, &alpha_}) x->resize(n * l);
    state_.resize(n * l);
    scale_.resize(n);
    top_.resize(std::min(n, static_cast<std::size_t>(segment)));
    for (Vec* x : {&log_all_, &e_all_}) x->resize(top_.size() * k);
  }
  if (in_.same_sets)
    recall(s);
  else if (!choose<FastNumbers>(s, false))
    choose<CarefulNumbers>(s, true);
  for (Index t = 0; t < s.size(); ++t) std::copy_n(state_.data() + t * width_, width_, memory_.of(row_ + t));
  if (!pass<FastNumbers>(s, false)) {
    load_sets(s);  // as the floors have changed them
    pass<CarefulNumbers>(s, true);
  }
  row_ += s.size();
  work_.for_parts(s.size(), [&](Index part, Index begin, Index m) {
    work_.collect(part, s.rows.data() + begin, m, width_, e_.data() + begin * width_,
                  state_.data() + begin * width_);
  });
}

Summary SparseChainPass::finish() {
  Summary out(shape_, chain_.k);
  work_.finish(out.obs.data());
  out.extra = start_count_;
  out.entropy() = entropy_;
  for (std::size_t i = 0; i < pair_.size(); ++i) {
    const double log_p = chain_.log_transition[i];
    out.entropy() -= pair_[i] * std::max(log_p, Chain::lowest) + careful_pair_[i] * log_p;
    out.pair[i] = pair_[i] + careful_pair_[i];
  }
  return out;
}

}  // namespace bnpvi
