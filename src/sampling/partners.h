// Draws pairs of rows from which a sampler's proposals of splits and merges start.
#pragma once
#include "foundation/random.h"
#include "sampling/row_features.h"
#include "sampling/urns.h"

namespace bnpvi {

/// Draws a second row, from which, together with the first, a proposal of a split or merge starts: with
/// probability ½ any other row, otherwise the one of several random rows that fits best into a cluster with
/// the first. The distribution does not depend on labels, as proposals require. There must be at least two
/// rows. scratch: urns that are overwritten; phi: space for the features of a row (p numbers).
Index draw_partner(Index row, const RowFeatures& rows, Urns& scratch, double* phi, Stream& stream);

}  // namespace bnpvi
