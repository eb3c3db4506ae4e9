// Counts how often a move has failed for a pair or larger group of clusters.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "foundation/archive.h"

namespace bnpvi {

/// True if the size of a cluster has changed by more than a tenth plus half an observation (guesses) since a
/// move failed at size `then`. The move may then be tried again.
bool has_changed(double then, double now);

/// The identity of a cluster (a number that is never reused) and its present size.
struct SizedCluster {
  std::uint64_t id;
  double size;
};

/// For each group of clusters, in any order, how often a move has failed with clusters of these sizes. Each
/// proposal has a copy. Copies share the table until one of them is changed.
class FailedGroups {
 public:
  /// Adds `failures` to the count of the group. If the sizes have changed since the last failure
  /// (has_changed()), the count first returns to 0.
  void failed(std::vector<SizedCluster> group, int failures);
  /// True when moves of this group have failed fewer than `allowed` times with clusters of these sizes.
  bool worth_trying(std::vector<SizedCluster> group, int allowed) const;
  /// Removes all groups that contain the cluster with this identity; for use when the cluster no longer
  /// exists.
  void forget(std::uint64_t id);

  std::size_t size() const { return groups_->size(); }

  void write(Writer& out) const;
  static FailedGroups read(Reader& in);

 private:
  struct Failure {
    Vec sizes;  // sizes of the clusters, by increasing identity
    int failures = 0;
  };
  using Groups = std::map<std::vector<std::uint64_t>, Failure>;  // identities increase
  Groups& edit();

  std::shared_ptr<Groups> groups_ = std::make_shared<Groups>();
};

}  // namespace bnpvi
