#include "topic_memory.h"

#include <algorithm>

namespace bnpvi {

std::shared_ptr<const UnitMemory> TopicMemory::renumbered(const std::vector<Index>& number) const {
  auto out = std::make_shared<TopicMemory>();
  out->document.reserve(document.size());
  for (const auto& old : document) {
    auto changed = std::make_shared<DocumentMemory>(*old);
    changed->share.clear();
    for (TopicShare s : old->share) {
      s.topic = static_cast<int>(number[s.topic]);
      if (s.topic >= 0) changed->share.push_back(s);
    }
    std::sort(changed->share.begin(), changed->share.end(),
              [](const TopicShare& a, const TopicShare& b) { return a.topic < b.topic; });
    out->document.push_back(std::move(changed));
  }
  return out;
}

}  // namespace bnpvi
