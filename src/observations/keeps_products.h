// Patterns whose products with clusters are needed again when rows are added up.
#pragma once
#include "observations/missing_pattern.h"

namespace bnpvi {

/// A MissingPattern, of the rows of one block, whose products() and add() begin with the same work.
class KeepsProducts {
 public:
  /// products() with k clusters of weights w (k × p), as those of features are. What add() needs of them is
  /// kept until features() are computed again: an add() of these rows (n, and where phi is) under the same
  /// weights has the same bits, in less time.
  virtual void products_to_add(Index n, const double* phi, Index k, const double* w, double* out) const = 0;

 protected:
  ~KeepsProducts() = default;
};

}  // namespace bnpvi
