// Pairs of clusters for which a move has failed.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "foundation/archive.h"

namespace bnpvi {

/// True when a size has changed by more than a tenth (a guess), so that what failed at size `then` is tried
/// again.
bool has_changed(double then, double now);

/// A cluster by its identity, which is never reused, and its present size.
struct SizedCluster {
  std::uint64_t id;
  double size;
};

/// For each pair of clusters how often a move has failed at their present sizes. A plain value; copies (each
/// proposal has one) share the table until one of them is changed.
class FailedPairs {
 public:
  /// Adds `failures` to those of the pair, from 0 if the sizes have changed since.
  void failed(SizedCluster a, SizedCluster b, int failures);
  /// True when the pair has had fewer than `allowed` failures at its present sizes.
  bool worth_trying(SizedCluster a, SizedCluster b, int allowed) const;
  /// Removes all pairs of a cluster that no longer exists.
  void forget(std::uint64_t id);

  std::size_t size() const { return pairs_->size(); }

  void write(Writer& out) const;
  static FailedPairs read(Reader& in);

 private:
  struct Failure {
    double size_a = -1, size_b = -1;
    int failures = 0;
  };
  using Pairs = std::map<std::pair<std::uint64_t, std::uint64_t>, Failure>;  // the smaller identity first
  Pairs& edit();

  std::shared_ptr<Pairs> pairs_ = std::make_shared<Pairs>();
};

}  // namespace bnpvi
