#include "chains/trees/tree_pass.h"

namespace bnpvi::chains {

TreePass::TreePass(const Visit& in, const Chain& chain, const SummaryShape& shape, const Piece& piece,
                   Pool* pool)
    : in_(in),
      chain_(chain),
      shape_(shape),
      work_(in, chain.k, piece, pool),
      pairs_(static_cast<std::size_t>(piece.parts), PairSums(chain)),
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
    if (!log_space)
      pairs_[part].add(m, s.position.empty() ? nullptr : s.position.data() + begin, u_.data() + begin * k,
                       m_.data() + begin * k);
    work_.collect(part, s.rows.data() + begin, m, k, log_e_.data() + begin * k, nullptr);
  });
  return true;
}

Summary TreePass::finish() {
  Summary out(shape_, chain_.k);
  work_.finish(out.edit_t(0));
  out.extra = start_count_;
  out.entropy() = entropy_ + add_transitions(chain_, pairs_, log_space_pairs_, out);
  return out;
}

}  // namespace bnpvi::chains
