// Changes of the list of clusters (merge, drop, append, permute) that a move makes, as a value.
#pragma once
#include <type_traits>
#include <vector>

#include "foundation/types.h"

namespace bnpvi {

struct Summary;

/// Changes of a list of clusters, applied one after the other. Each change uses the cluster numbers that the
/// changes before it have left. They can be applied to any type with merge(a, b), drop(j), append(m) and
/// permute(order): summaries, assignments, the memory of failed moves.
class Changes {
 public:
  /// Adds cluster b to cluster a < b and removes b; the numbers of clusters after b decrease by one.
  Changes& merge(Index a, Index b) { return add({Kind::merge, a, b, {}}); }
  /// Removes cluster j; the numbers of clusters after j decrease by one.
  Changes& drop(Index j) { return add({Kind::drop, j, 0, {}}); }
  /// Appends m new clusters at the end. owner: the class of labelled rows that the clusters belong to (0:
  /// none); it is stored in summaries only.
  Changes& append(Index m, int owner = 0) { return add({Kind::append, m, owner, {}}); }
  /// Reorders the clusters: the new cluster j is the old cluster order[j].
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
