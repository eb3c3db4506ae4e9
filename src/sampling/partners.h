// Draws pairs of rows from which a sampler's proposals of splits and merges start.
#pragma once
#include "foundation/random.h"
#include "sampling/row_features.h"
#include "sampling/urns.h"

namespace bnpvi {

/// Draws a second row for a proposal of a split or merge, which starts from two rows. With probability ½ it
/// is any other row; otherwise, of several random rows, the one that fits best into a cluster with the first.
/// The distribution does not depend on labels, as such proposals require. There must be at least two rows.
/// scratch: urns that are overwritten. phi: space for the features of a row (p numbers).
Index draw_partner(Index row, const RowFeatures& rows, Urns& scratch, double* phi, Stream& stream);

}  // namespace bnpvi
