// A longer step from two short ones of a slow fixed point.
#pragma once
#include <optional>

#include "foundation/types.h"

namespace bnpvi {

/// Of three consecutive iterates, x_0 + 2s(x_1 − x_0) + s²(x_2 − 2x_1 + x_0) with s = |x_1 − x_0| / |x_2 −
/// 2x_1 + x_0| [Varadhan and Roland 2008, scheme S3]. Nothing where that is no farther than x_2, or changes a
/// coordinate by more than `farthest`. The caller must ask whether it is any better.
std::optional<Vec> extrapolated(const Vec& x0, const Vec& x1, const Vec& x2, double farthest);

}  // namespace bnpvi
