// Pairs of rows, of which proposals of splits and merges begin.
#pragma once
#include "foundation/random.h"
#include "sampling/row_features.h"
#include "sampling/urns.h"

namespace bnpvi {

/// A row beside this one: any, or of some drawn rows the one that fits it best. Its law does not depend on
/// labels, as those of proposals must not. At least two rows; scratch: urns that are overwritten, and a row's
/// features (p).
Index draw_partner(Index row, const RowFeatures& rows, Urns& scratch, double* phi, Stream& stream);

}  // namespace bnpvi
