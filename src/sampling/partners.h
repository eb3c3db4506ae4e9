// Draws pairs of rows from which a sampler's proposals of splits and merges start.
#pragma once
#include "foundation/random.h"
#include "sampling/row_features.h"
#include "sampling/urns.h"

namespace bnpvi {

/// Draws the second of the two rows from which a proposal of a split or merge starts. With probability ½ it
/// is any other row. Otherwise it is, of several random rows, the one that fits best into a cluster with the
/// first. The distribution does not depend on labels, as such proposals require. There must be at least two
/// rows. scratch: urns that are overwritten. phi: space for the features of a row (p numbers).
Index draw_partner(Index row, const RowFeatures& rows, Urns& scratch, double* phi, Stream& stream);

}  // namespace bnpvi
