// Renews the tangents of documents' terms at the present globals.
#include <algorithm>
#include <cmath>

#include "topics/model/document_counts.h"
#include "topics/model/topic_model.h"

namespace bnpvi::topics {

void TopicAlloc::settle(Summary& batch, const Globals& globals) const {
  if (!batch.memory) return;
  if (patterns_ > 0) return settle_by_pattern(batch, document_priors(globals));
  const Vec a = document_prior(globals);
  std::fill(batch.extra.begin(), batch.extra.end(), 0.0);
  auto settled = std::make_shared<UnitMemory>();
  settled->shares = batch.memory->shares.changed([&](std::vector<Share>& share, double weight) {
    for (Share& s : share) s.theta = s.count + a[s.cluster];
    add_tangents(share, weight, batch.extra.data());
  });
  if (alpha_.prior) {
    DocumentLengths lengths;
    lengths.add(settled->shares);
    batch.scalar[TopicScalar::lengths] = lengths.term(alpha());
  }
  batch.memory = std::move(settled);
}

// As settle() for priors by pattern, with tangents at the sums of the priors, too.
void TopicAlloc::settle_by_pattern(Summary& batch, const DocumentPriors& priors) const {
  std::fill(batch.extra.begin(), batch.extra.end(), 0.0);
  batch.scalar[TopicScalar::lengths] = 0;
  for (Index c = 0; c < patterns_; ++c) batch.scalar[TopicScalar::slope_of(c)] = 0;
  const ShareTable& old = batch.memory->shares;
  std::vector<std::shared_ptr<ShareBlock>> blocks;
  for (const auto& block : old.block) {
    blocks.push_back(std::make_shared<ShareBlock>());
    blocks.back()->weights = block->weights;
    blocks.back()->logs = block->logs;
    blocks.back()->share.reserve(block->share.size());
    blocks.back()->local.reserve(block->local.size());
  }
  LengthSum lengths;
  auto settled = std::make_shared<UnitMemory>();
  settled->shares.unit.reserve(old.unit.size());
  std::vector<Share> share;
  Vec local;
  for (std::size_t i = 0; i < old.unit.size(); ++i) {
    const Index at = static_cast<Index>(i);
    UnitShares unit = old.unit[i];
    share.assign(old.shares(at).begin(), old.shares(at).end());
    local.clear();
    if (const double* own = old.local(at)) {
      const auto pattern = static_cast<Index>(own[PatternLocal::pattern]);
      const DocumentPrior& prior = priors.of[pattern];
      double length = 0;
      for (Share& s : share) {
        length += s.count;
        s.theta = s.count + prior.a[s.cluster];
      }
      local = {own[PatternLocal::pattern], prior.all};
      lengths.add(std::round(length), unit.weight, pattern, prior.all, batch.scalar);
      add_tangents(share, unit.weight, batch.extra.data(), pattern, patterns_);
    }
    const UnitShares place = remember(*blocks[unit.block], unit.block, share, local);
    unit.from = place.from;
    unit.local = place.local;
    unit.n_local = place.n_local;
    settled->shares.unit.push_back(unit);
  }
  lengths.finish(batch.scalar);
  settled->shares.block.assign(blocks.begin(), blocks.end());
  batch.memory = std::move(settled);
}

}  // namespace bnpvi::topics
