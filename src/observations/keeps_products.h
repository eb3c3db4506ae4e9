// Patterns of missing cells that reuse work between products with clusters and the sums over rows.
#pragma once
#include "observations/missing_pattern.h"

namespace bnpvi {

/// A MissingPattern, of the rows of one block, whose products() and add() begin with the same work.
class KeepsProducts {
 public:
  /// products() with k clusters that have full weights w (k × p), keeping the intermediate results. A
  /// following add() of the same rows (same n and phi) under the same weights reuses them: the same bits in
  /// less time. They are discarded when features() is called again.
  virtual void products_to_add(Index n, const double* phi, Index k, const double* w, double* out) const = 0;

 protected:
  ~KeepsProducts() = default;
};

}  // namespace bnpvi
