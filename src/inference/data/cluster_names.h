// Names of clusters: numbers that mark clusters with priors of their own.
#pragma once
#include <algorithm>
#include <vector>

#include "foundation/types.h"

namespace bnpvi {

/// For each cluster the number, from 1, of the prior of its own that it has (its name, see NamedClusters); 0:
/// the cluster has the common prior. No number occurs twice. Empty if no cluster has a prior of its own.
struct ClusterNames {
  std::vector<int> of;

  bool any() const { return !of.empty(); }
  int of_cluster(Index j) const { return any() ? of[static_cast<std::size_t>(j)] : 0; }
  /// The name (number of the prior) of the cluster that results from joining clusters a and b, of which at
  /// most one has a prior of its own.
  int of_pair(Index a, Index b) const { return std::max(of_cluster(a), of_cluster(b)); }
  /// True if at most one of these clusters has a prior of its own (its name is above 0), so that they may be
  /// joined.
  bool at_most_one(const std::vector<Index>& clusters) const {
    return std::count_if(clusters.begin(), clusters.end(), [this](Index j) { return of_cluster(j) > 0; }) < 2;
  }

  // Joins cluster b to a < b in the list of names. This and the functions below are the changes of a list of
  // clusters that Changes (changes.h) applies.
  void merge(Index a, Index b) {
    if (any()) of[a] = of_pair(a, b);
    drop(b);
  }
  void drop(Index j) {
    if (any()) of.erase(of.begin() + j);
  }
  void append(Index m) {
    if (any()) of.resize(of.size() + static_cast<std::size_t>(m), 0);
  }
  void permute(const std::vector<Index>& order) {
    const std::vector<int> old = of;
    for (std::size_t j = 0; j < of.size(); ++j) of[j] = old[static_cast<std::size_t>(order[j])];
  }
};

}  // namespace bnpvi
