#include "mixtures/pair_entropy.h"

namespace bnpvi::mixtures {

void PairEntropy::begin(Index n_chunks) {
  change_.assign(static_cast<std::size_t>(n_chunks), Vec(pairs_.size(), 0.0));
}

void PairEntropy::visit(Index chunk, const Index*, const Responsibilities& r, FeatureBlock& block) {
  for (std::size_t i = 0; i < pairs_.size(); ++i) change_[chunk][i] += joining_entropy(r, pairs_[i], block);
}

Vec PairEntropy::total() const {
  Vec out(pairs_.size(), 0.0);
  for (const Vec& c : change_)
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += c[i];
  return out;
}

void PairEntropy::write_task(Writer& out) const { write_targets(out, pairs_); }

std::unique_ptr<Watch> PairEntropy::read(Reader& in) {
  return std::make_unique<PairEntropy>(read_targets(in));
}

}  // namespace bnpvi::mixtures
