#include "chain_pass.h"

#include <algorithm>

#include "kernels.h"

namespace bnpvi {

ChainPass::ChainPass(const LocalInput& in, const Chain& chain, const SummaryShape& shape, const Piece& piece,
                     Pool* pool)
    : in_(in),
      chain_(chain),
      shape_(shape),
      work_(in, chain.k, piece, pool),
      pairs_(static_cast<std::size_t>(piece.parts), Vec(static_cast<std::size_t>(chain.k * chain.k), 0.0)),
      careful_pairs_(static_cast<std::size_t>(chain.k * chain.k), 0.0),
      start_count_(static_cast<std::size_t>(chain.k), 0.0) {}

void ChainPass::load(const SequenceRows& s, Index from, Index n, bool careful) {
  const Index k = chain_.k;
  work_.for_parts(n, [&](Index part, Index begin, Index m) {
    log_likelihoods(work_.block(part), in_.weights, s.rows.data() + from + begin, m,
                    log_e_.data() + begin * k);
    make_potentials(m, k, log_e_.data() + begin * k, e_.data() + begin * k, careful);
  });
}

void ChainPass::add_pairs(Index n) {
  const Index k = chain_.k;
  work_.for_parts(n, [&](Index part, Index begin, Index m) {
    kernels().add_product_tn(m, k, k, alpha_.data() + begin * k, k, e_.data() + begin * k, k,
                             pairs_[part].data(), k);
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
    work_.collect(s.rows.data() + from, m, k, log_e_.data(), nullptr);
  }
  return true;
}

Summary ChainPass::finish() {
  const Index k = chain_.k;
  Summary out(shape_, k);
  work_.finish(out.obs.data());
  for (const Vec& pairs : pairs_)
    for (Index i = 0; i < k * k; ++i) out.pair[i] += pairs[i];
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
