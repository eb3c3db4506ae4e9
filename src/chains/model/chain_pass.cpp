#include "chains/model/chain_pass.h"

#include <algorithm>

namespace bnpvi::chains {

namespace {

// Number of rows of a segment. The more segments a long sequence has, the less time threads wait at its ends,
// hence 2^14 potentials per segment. (A guess, as are the limits: fewer than 512 rows would not pay for a
// parallel call, and at most 2048.)
Index rows_at_once(const Piece& piece, Index k) {
  constexpr Index potentials = Index{1} << 14, fewest = 512, most = 2048;
  if (piece.parts == 1) return segment_rows;
  return std::clamp(power_of_two_below(std::max<Index>(potentials / k, 1)), fewest, most);
}

// Maximal number of states of all rows in memory; guesses.
Index states_in_memory(const Piece& piece) { return Index{1} << (piece.parts == 1 ? 17 : 18); }

}  // namespace

ChainPass::ChainPass(const Visit& in, const Chain& chain, const SummaryShape& shape, const Piece& piece,
                     Pool* pool)
    : in_(in),
      chain_(chain),
      shape_(shape),
      work_(in, chain.k, piece, pool),
      pairs_(static_cast<std::size_t>(piece.parts), PairSums(chain)),
      log_space_pairs_(chain.log_transition.size(), 0.0),
      start_count_(static_cast<std::size_t>(chain.k), 0.0),
      most_rows_(rows_at_once(piece, chain.k)),
      most_kept_(std::max<Index>(states_in_memory(piece) / (most_rows_ * chain.k), piece.parts == 1 ? 1 : 4)),
      ahead_(work_.overlaps() ? 1 : 0) {}

void ChainPass::load(const SequenceRows& s, Segment& x, Index part, Index begin, Index m, bool log_space) {
  const Index k = chain_.k;
  log_likelihoods(work_.block(part), *in_.weights, in_.globals.effective.owner,
                  s.rows.data() + x.from + begin, m, x.log_e.data() + begin * k);
  make_potentials(m, k, x.log_e.data() + begin * k, x.e.data() + begin * k, log_space);
}

ChainRows ChainPass::rows_of(const SequenceRows& s, const Segment& x) {
  return {x.n, s.first.data() + x.from, s.position.empty() ? nullptr : s.position.data() + x.from};
}

bool ChainPass::pass_forward(const SequenceRows& s, Segment& x, bool log_space) {
  const Index k = chain_.k;
  const ChainRows rows = rows_of(s, x);
  double* const before = before_.data() + x.number * k;
  std::copy_n(before, k, x.alpha.begin());
  bool sure = true;
  if (log_space)
    log_space_forward(chain_, rows, x.log_e.data(), x.alpha.data(), x.scale.data());
  else
    sure = forward(chain_, rows, x.e.data(), x.alpha.data(), x.scale.data());
  std::copy_n(x.alpha.begin() + x.n * k, k, before + k);
  return sure;
}

void ChainPass::pass_backward(const SequenceRows& s, Segment& x, bool log_space) {
  const ChainRows rows = rows_of(s, x);
  std::function<void(Index, const double*)> tell;
  if (log_space && in_.sink && in_.sink->wants_joint())
    tell = [&](Index t, const double* joint) {
      in_.sink->visit_joint(s.rows[x.from + t], Vec(joint, joint + chain_.k * chain_.k));
    };
  if (log_space)
    log_space_backward(chain_, rows, x.alpha.data(), x.scale.data(), x.log_e.data(), beta_.data(),
                       start_count_.data(), log_space_pairs_.data(), entropy_, tell);
  else
    backward(chain_, rows, x.alpha.data(), x.scale.data(), x.log_e.data(), x.e.data(), beta_.data(),
             start_count_.data(), entropy_);
  if (!log_space && in_.sink && in_.sink->wants_joint()) tell_joint(s, x);
}

bool ChainPass::step(const SequenceRows& s, const Stages& x, bool log_space) {
  bool sure = true;
  const auto recursion = [&](Index i) {
    if (i == 0 && x.backward) pass_backward(s, *x.backward, log_space);
    if (i == 1 && x.forward) sure = pass_forward(s, *x.forward, log_space);
  };
  const auto load_chunk = [&](Index part) {
    if (x.load)
      work_.rows_of_chunk(part, x.load->n,
                          [&](Index begin, Index m) { load(s, *x.load, part, begin, m, log_space); });
  };
  const auto collect_chunk = [&](Index part) {
    if (x.collect)
      work_.rows_of_chunk(part, x.collect->n,
                          [&](Index begin, Index m) { collect(s, *x.collect, part, begin, m, log_space); });
  };
  if (ahead_ == 0) {
    work_.for_chunks(load_chunk, 2, recursion);
    work_.for_chunks(collect_chunk, 0, recursion);
    return sure;
  }
  const auto both = [&](Index part) {
    load_chunk(part);
    collect_chunk(part);
  };
  work_.for_chunks(both, 2, recursion);
  return sure;
}

void ChainPass::collect(const SequenceRows& s, const Segment& x, Index part, Index begin, Index m,
                        bool log_space) {
  const Index k = chain_.k;
  if (!log_space)
    pairs_[part].add(m, s.position.empty() ? nullptr : s.position.data() + x.from + begin,
                     x.alpha.data() + begin * k, x.e.data() + begin * k);
  if (!log_space && in_.sink && in_.sink->wants_messages())
    for (Index t = x.from + begin, i = begin; i < begin + m; ++i, ++t)
      in_.sink->visit_messages(s.rows[t], x.log_e.data() + i * k, x.alpha.data() + (i + 1) * k,
                               x.e.data() + i * k, x.scale[i]);
  work_.collect(part, s.rows.data() + x.from + begin, m, k, x.log_e.data() + begin * k, nullptr);
}

void ChainPass::tell_joint(const SequenceRows& s, const Segment& x) {
  const Index k = chain_.k;
  Vec joint(static_cast<std::size_t>(k * k));
  for (Index t = 0; t < x.n; ++t) {
    if (s.first[x.from + t]) continue;
    const double* p = chain_.transition.data() + rows_of(s, x).block(chain_, t);
    for (Index l = 0; l < k; ++l)
      for (Index j = 0; j < k; ++j) joint[l * k + j] = x.alpha[t * k + l] * p[l * k + j] * x.e[t * k + j];
    in_.sink->visit_joint(s.rows[x.from + t], joint);
  }
}

void ChainPass::run(const SequenceRows& s) {
  if (s.size() == 0) return;
  if (chain_.has_zeros || !pass(s, false)) pass(s, true);
}

bool ChainPass::pass(const SequenceRows& s, bool log_space) {
  const Index k = chain_.k, n = s.size(), n_segments = (n + most_rows_ - 1) / most_rows_,
              in_memory = std::min(n_segments, most_kept_);
  make_room(in_memory, std::min(n, most_rows_));
  const auto segment = [&](Index i, Index end) {
    return i >= 0 && i < end ? &segments_[i % in_memory] : nullptr;
  };
  const auto to_load = [&](Index i, Index end) {
    Segment* const x = segment(i, end);
    if (x) {
      x->number = i;
      x->from = n * i / n_segments;
      x->n = n * (i + 1) / n_segments - x->from;
    }
    return x;
  };
  before_.assign(static_cast<std::size_t>((n_segments + 1) * k), 0.0);
  for (Index i = 0; i < n_segments + ahead_; ++i)
    if (!step(s, {to_load(i, n_segments), segment(i - ahead_, n_segments), nullptr, nullptr}, log_space))
      return false;

  const Index lost = n_segments - in_memory;  // all but these are still in memory
  beta_.assign(static_cast<std::size_t>(k), log_space ? 0.0 : 1.0);
  for (Index i = n_segments - 1; i >= -ahead_; --i)
    step(s,
         {to_load(i - 2 * ahead_, lost), segment(i - ahead_, lost), segment(i, n_segments),
          segment(i + ahead_, n_segments)},
         log_space);
  return true;
}

void ChainPass::make_room(Index in_memory, Index longest) {
  const std::size_t rows = static_cast<std::size_t>(longest), k = chain_.start.size();
  if (segments_.size() < static_cast<std::size_t>(in_memory)) segments_.resize(in_memory);
  for (Index i = 0; i < in_memory; ++i) {
    Segment& x = segments_[i];
    if (x.scale.size() >= rows) continue;
    x.log_e.resize(rows * k);
    x.e.resize(rows * k);
    x.alpha.resize((rows + 1) * k);
    x.scale.resize(rows);
  }
}

Summary ChainPass::finish() {
  Summary out(shape_, chain_.k);
  work_.finish(out.edit_t(0));
  out.extra = start_count_;
  out.entropy() = entropy_ + add_transitions(chain_, pairs_, log_space_pairs_, out);
  return out;
}

}  // namespace bnpvi::chains
