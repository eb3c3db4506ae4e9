// Changes that a move makes to the list of clusters, as a value.
#pragma once
#include <type_traits>
#include <vector>

#include "foundation/types.h"

namespace bnpvi {

struct Summary;

/// Changes of a list of clusters, applied one after the other; each uses the numbers of clusters that the
/// changes before it have left. They apply to any type that has merge(a, b), drop(j), append(m) and
/// permute(order): summaries, assignments, the memory of moves.
class Changes {
 public:
  /// Adds cluster b to cluster a < b; clusters after b move up by one.
  Changes& merge(Index a, Index b) { return add({Kind::merge, a, b, {}}); }
  /// Removes cluster j; clusters after j move up by one.
  Changes& drop(Index j) { return add({Kind::drop, j, 0, {}}); }
  /// Appends m new clusters at the end; in summaries they get this owner.
  Changes& append(Index m, int owner = 0) { return add({Kind::append, m, owner, {}}); }
  /// Reorders: the new cluster j is the present cluster order[j].
  Changes& permute(std::vector<Index> order) { return add({Kind::permute, 0, 0, std::move(order)}); }

  /// Appends the changes of another list.
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
