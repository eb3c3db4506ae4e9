// Names of clusters: numbers that mark clusters with separate priors.
#pragma once
#include <algorithm>
#include <vector>

#include "foundation/types.h"

namespace bnpvi {

/// For each cluster its name: the number, from 1, of its separate prior (NamedClusters), or 0 for the common
/// prior. No number above 0 occurs twice. Empty if no cluster has a separate prior.
struct ClusterNames {
  std::vector<int> of;

  bool any() const { return !of.empty(); }
  int of_cluster(Index j) const { return any() ? of[static_cast<std::size_t>(j)] : 0; }
  /// The name of the cluster that results from joining clusters a and b, of which at most one has a name
  /// above 0.
  int of_pair(Index a, Index b) const { return std::max(of_cluster(a), of_cluster(b)); }
  /// True if at most one of these clusters has a name above 0 (a separate prior), so that they may be joined.
  bool at_most_one(const std::vector<Index>& clusters) const {
    return std::count_if(clusters.begin(), clusters.end(), [this](Index j) { return of_cluster(j) > 0; }) < 2;
  }

  // Joins cluster b to a < b in the list of names. This and the next functions are the changes that Changes
  // (changes.h) applies to a list of clusters.
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
