// Patterns of missing cells that keep intermediate results of products with clusters for the sums over rows
// that follow.
#pragma once
#include "observations/missing_pattern.h"

namespace bnpvi {

/// A MissingPattern, for the rows of one block, whose products() and add() begin with the same work.
class KeepsProducts {
 public:
  /// Computes the same as products(), with k clusters that have full weights w (k × p), and keeps the
  /// intermediate results. An add() that follows, of the same rows (same n and phi) under the same weights,
  /// reuses them and gives the same bits in less time. They are discarded when features() is called again.
  virtual void products_to_add(Index n, const double* phi, Index k, const double* w, double* out) const = 0;

 protected:
  ~KeepsProducts() = default;
};

}  // namespace bnpvi
