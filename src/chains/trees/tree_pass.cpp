#include "chains/trees/tree_pass.h"

#include <algorithm>

#include "kernels/kernels.h"

namespace bnpvi::chains {

namespace {

constexpr Index gathered_rows = 1024;  // of which those of a position are copied: a guess

}  // namespace

TreePass::TreePass(const Visit& in, const Chain& chain, const SummaryShape& shape, const Piece& piece,
                   Pool* pool)
    : in_(in),
      chain_(chain),
      shape_(shape),
      work_(in, chain.k, piece, pool),
      pairs_(static_cast<std::size_t>(piece.parts), Vec(chain.log_transition.size(), 0.0)),
      log_space_pairs_(chain.log_transition.size(), 0.0),
      start_count_(static_cast<std::size_t>(chain.k), 0.0) {}

void TreePass::run(const SequenceRows& s) {
  const std::size_t numbers = static_cast<std::size_t>(s.size() * chain_.k);
  if (numbers == 0) return;
  for (Vec* x : {&log_e_, &m_, &u_})
    if (x->size() < numbers) x->resize(numbers);
  if (chain_.has_zeros || !pass(s, false)) pass(s, true);
}

bool TreePass::pass(const SequenceRows& s, bool log_space) {
  const Index k = chain_.k, n = s.size();
  const TreeRows rows{n, s.back.data(), data_or_null(s.position)};
  work_.for_parts(n, [&](Index part, Index begin, Index m) {
    log_likelihoods(work_.block(part), *in_.weights, in_.globals.effective.owner, s.rows.data() + begin, m,
                    log_e_.data() + begin * k);
    subtract_tops(m, k, log_e_.data() + begin * k);
  });
  std::function<void(Index, const double*)> tell;
  if (in_.sink && in_.sink->wants_joint())
    tell = [&](Index t, const double* joint) { in_.sink->visit_joint(s.rows[t], Vec(joint, joint + k * k)); };
  TreeMessages messages(chain_, log_space);
  Vec start = start_count_;
  double entropy = entropy_;
  const double log_z = messages.upward(rows, log_e_.data(), m_.data(), u_.data());
  if (!messages.downward(rows, log_z, log_e_.data(), m_.data(), u_.data(),
                         {start.data(), log_space_pairs_.data(), &entropy}, tell))
    return false;
  start_count_ = start;
  entropy_ = entropy;
  work_.for_parts(n, [&](Index part, Index begin, Index m) {
    if (!log_space) add_pairs(part, s, begin, m);
    work_.collect(part, s.rows.data() + begin, m, k, log_e_.data() + begin * k, nullptr);
  });
  return true;
}

void TreePass::add_pairs(Index part, const SequenceRows& s, Index begin, Index m) {
  const Index k = chain_.k;
  const auto add = [&](Index position, Index n, const double* u, const double* to) {
    kernels().add_product_tn(n, k, k, u, k, to, k, pairs_[part].data() + chain_.block(position), k);
  };
  if (s.position.empty()) return add(0, m, u_.data() + begin * k, m_.data() + begin * k);
  Vec u, to;  // of the rows of one position
  for (Index from = begin; from < begin + m; from += gathered_rows)
    for (Index p = 0; p < chain_.positions(); ++p) {
      u.clear();
      to.clear();
      for (Index t = from; t < std::min(begin + m, from + gathered_rows); ++t) {
        if (s.position[t] != p) continue;
        u.insert(u.end(), u_.begin() + t * k, u_.begin() + (t + 1) * k);
        to.insert(to.end(), m_.begin() + t * k, m_.begin() + (t + 1) * k);
      }
      add(p, static_cast<Index>(u.size()) / k, u.data(), to.data());
    }
}

Summary TreePass::finish() {
  Summary out(shape_, chain_.k);
  work_.finish(out.edit_t(0));
  out.extra = start_count_;
  Vec pair(chain_.log_transition.size(), 0.0);
  out.entropy() = entropy_ + add_transitions(chain_, pairs_, log_space_pairs_, pair);
  for (Index p = 0; p < chain_.positions(); ++p)
    for (Index i = 0; i < chain_.k; ++i)
      for (Index j = 0; j < chain_.k; ++j) out.of_pair(i, j, p) = pair[chain_.block(p) + i * chain_.k + j];
  return out;
}

}  // namespace bnpvi::chains
