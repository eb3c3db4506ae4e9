// Pairs of clusters that a move has failed with.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "foundation/archive.h"

namespace bnpvi {

/// True when a size has changed enough for what failed then to be tried again now.
bool has_changed(double then, double now);

/// A cluster by its identity, which is never reused, and its present size.
struct SizedCluster {
  std::uint64_t id;
  double size;
};

/// How often a move has failed with each pair since its clusters had other sizes. A plain value: copies, as
/// every proposal has one, share the pairs until one of them changes.
class FailedPairs {
 public:
  void failed(SizedCluster a, SizedCluster b, int failures);
  /// Less than `allowed` failures, or sizes that have changed since.
  bool worth_trying(SizedCluster a, SizedCluster b, int allowed) const;
  /// Forgets all pairs with a cluster that is gone.
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
