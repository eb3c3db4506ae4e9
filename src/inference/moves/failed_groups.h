// Pairs and larger groups of clusters for which a move has failed.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "foundation/archive.h"

namespace bnpvi {

/// True when a size has changed by more than a tenth (a guess), so that a move that failed at size `then` may
/// be tried again.
bool has_changed(double then, double now);

/// The identity of a cluster (a number that is never reused) and its present size.
struct SizedCluster {
  std::uint64_t id;
  double size;
};

/// For each group of clusters, regardless of order: how often a move has failed at their present sizes. A
/// plain value; copies (each proposal has one) share the table until one of them is changed.
class FailedGroups {
 public:
  /// Adds `failures` to the count of the group, which restarts from 0 if the sizes have changed since.
  void failed(std::vector<SizedCluster> group, int failures);
  /// True when the group has had fewer than `allowed` failures at its present sizes.
  bool worth_trying(std::vector<SizedCluster> group, int allowed) const;
  /// Removes all groups that contain this cluster, which no longer exists.
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
