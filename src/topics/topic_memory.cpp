#include "topics/topic_memory.h"

#include <algorithm>

namespace bnpvi::topics {

DocumentMemory remember(TopicBlock& block, Shares share) {
  DocumentMemory document;
  document.block = &block;
  document.from = block.share.size();
  document.n = share.size();
  block.share.insert(block.share.end(), share.begin(), share.end());
  return document;
}

std::shared_ptr<TopicMemory> TopicMemory::changed(
    const std::function<void(std::vector<TopicShare>&)>& change) const {
  auto out = std::make_shared<TopicMemory>();
  std::vector<std::shared_ptr<TopicBlock>> blocks;
  for (const auto& old : block) {
    blocks.push_back(std::make_shared<TopicBlock>());
    blocks.back()->weights = old->weights;
    blocks.back()->share.reserve(old->share.size());
  }
  out->document.reserve(document.size());
  std::vector<TopicShare> share;
  std::size_t at = 0;
  for (const DocumentMemory& old : document) {
    while (block[at].get() != old.block) at = (at + 1) % block.size();
    share.assign(old.share().begin(), old.share().end());
    change(share);
    DocumentMemory now = remember(*blocks[at], share);
    now.misses = old.misses;
    now.wait = old.wait;
    out->document.push_back(now);
  }
  out->block.assign(blocks.begin(), blocks.end());
  return out;
}

std::shared_ptr<const UnitMemory> TopicMemory::renumbered(const std::vector<Index>& number) const {
  return changed([&](std::vector<TopicShare>& share) {
    for (TopicShare& s : share) s.topic = static_cast<int>(number[s.topic]);
    share.erase(std::remove_if(share.begin(), share.end(), [](const TopicShare& s) { return s.topic < 0; }),
                share.end());
    std::sort(share.begin(), share.end(),
              [](const TopicShare& a, const TopicShare& b) { return a.topic < b.topic; });
  });
}

}  // namespace bnpvi::topics
