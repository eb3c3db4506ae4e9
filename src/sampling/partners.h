// Pairs of rows, from which proposals of splits and merges start.
#pragma once
#include "foundation/random.h"
#include "sampling/row_features.h"
#include "sampling/urns.h"

namespace bnpvi {

/// Draws another row to go with this one: any, or the best fitting of some drawn rows. Its law does not
/// depend on labels, as is necessary for proposals. At least two rows; scratch: urns that are overwritten,
/// and a row's features (p).
Index draw_partner(Index row, const RowFeatures& rows, Urns& scratch, double* phi, Stream& stream);

}  // namespace bnpvi
