#include "topics/moves/join_newborns.h"

#include <algorithm>

#include "topics/moves/close_pairs.h"

namespace bnpvi::topics {

namespace {

bool among(const std::vector<Index>& list, Index j) {
  return std::find(list.begin(), list.end(), j) != list.end();
}

// Disjoint pairs of new topics whose joining gains, best first.
Room pairs_to_join(const MoveContext& context, const TopicEdit& edit) {
  Room out;
  std::vector<Index> taken;
  const auto newborn = [&](Index a, Index b) { return among(edit.divided, a) && among(edit.divided, b); };
  const Index most = context.options.max_merges;
  const MoveContext own{edit.problem(),  context.options, context.memory,
                        context.visitor, context.pool,    context.lap};
  for (const TopicPair& pair : close_pairs(own, edit.proposed().total, most, newborn)) {
    if (pair.score <= 0) break;
    if (among(taken, pair.a) || among(taken, pair.b)) continue;
    taken.insert(taken.end(), {pair.a, pair.b});
    out.joined.push_back({pair.a, pair.b});
  }
  return out;
}

}  // namespace

Index join_alike(const MoveContext& context, TopicEdit& edit) {
  for (Room room = pairs_to_join(context, edit); room.size() > 0; room = pairs_to_join(context, edit)) {
    const std::vector<Index> gone = room.gone();
    std::vector<Index> left;
    for (Index j : edit.divided)
      if (!among(gone, j)) left.push_back(room.number_of(j));
    edit.divided = std::move(left);
    edit.begin_again(room.changes());
    edit.round();
  }
  return static_cast<Index>(edit.divided.size());
}

}  // namespace bnpvi::topics
