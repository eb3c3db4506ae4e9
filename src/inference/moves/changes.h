// What a move does to the clusters, as a value.
#pragma once
#include <type_traits>
#include <vector>

#include "foundation/types.h"

namespace bnpvi {

struct Summary;

/// Changes of a list of clusters, one after the other; each numbers the clusters as the ones before it left
/// them. They apply to whatever has merge(a, b), drop(j), append(m) and permute(order): summaries,
/// assignments, the memory of moves.
class Changes {
 public:
  /// Cluster b joins a < b, and later clusters move up.
  Changes& merge(Index a, Index b) { return add({Kind::merge, a, b, {}}); }
  /// Cluster j goes.
  Changes& drop(Index j) { return add({Kind::drop, j, 0, {}}); }
  /// m new clusters at the end; in summaries with this owner.
  Changes& append(Index m, int owner = 0) { return add({Kind::append, m, owner, {}}); }
  /// Cluster j is the present order[j].
  Changes& permute(std::vector<Index> order) { return add({Kind::permute, 0, 0, std::move(order)}); }

  /// The changes of another list after these.
  Changes& then(const Changes& more) {
    list_.insert(list_.end(), more.list_.begin(), more.list_.end());
    return *this;
  }

  template <class Clusters>
  void apply(Clusters& clusters) const {
    for (const Change& change : list_) switch (change.kind) {
        case Kind::merge:
          clusters.merge(change.a, change.b);
          break;
        case Kind::drop:
          clusters.drop(change.a);
          break;
        case Kind::append:
          if constexpr (std::is_same_v<Clusters, Summary>)
            clusters.append(change.a, static_cast<int>(change.b));
          else
            clusters.append(change.a);
          break;
        case Kind::permute:
          clusters.permute(change.order);
          break;
      }
  }

 private:
  enum class Kind { merge, drop, append, permute };
  struct Change {
    Kind kind;
    Index a, b;
    std::vector<Index> order;
  };
  Changes& add(Change change) {
    list_.push_back(std::move(change));
    return *this;
  }

  std::vector<Change> list_;
};

}  // namespace bnpvi
