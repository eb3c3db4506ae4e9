#include "topics/streams/running_topics.h"

#include <algorithm>

namespace bnpvi::topics {

void RunningTopics::keep(const std::vector<Index>& kept) {
  std::vector<int> number(static_cast<std::size_t>(k()), -1);
  Vec kept_tables;
  for (Index j : kept) {
    number[j] = static_cast<int>(kept_tables.size());
    kept_tables.push_back(tables[j]);
  }
  RunningState::keep(kept);
  tables = std::move(kept_tables);
  for (int& j : recent.topic)
    if (j >= 0) j = number[j];
}

void RunningTopics::join(Index a, Index b) {
  RunningState::join(a, b);
  tables[a] += tables[b];
  std::replace(recent.topic.begin(), recent.topic.end(), static_cast<int>(b), static_cast<int>(a));
}

}  // namespace bnpvi::topics
