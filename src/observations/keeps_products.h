// Interface of patterns of missing cells that keep the work that two calls share: products of rows with
// clusters, and sums over the same rows.
#pragma once
#include "observations/missing_pattern.h"

namespace bnpvi {

/// A pattern of missing cells in which products() (rows with clusters) and add() (sums over rows) start with
/// the same work for the rows of a block.
class KeepsProducts {
 public:
  /// Writes to `out` (n × k) what products() writes, for n rows with features phi and k clusters with full
  /// weights w (k × p), and keeps the intermediate results. If add() follows with the same rows (same n and
  /// phi) under the same weights, it reuses them and returns the same bits in less time. They are discarded
  /// when features() is called again.
  virtual void products_to_add(Index n, const double* phi, Index k, const double* w, double* out) const = 0;

 protected:
  ~KeepsProducts() = default;
};

}  // namespace bnpvi
