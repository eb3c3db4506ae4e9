// A hierarchical prior as the fields of an observation model have it, in the user's units.
#pragma once
#include "foundation/fields.h"
#include "foundation/named_array.h"
#include "observations/hierarchical_gaussian.h"

namespace bnpvi {

/// What the scale of a cluster is: D × D, D numbers, or one.
enum class ScaleShape { full, diagonal, spherical };

/// Of D columns, but for the location.
HyperpriorOfData hyperprior_of(const Fields& fields, ScaleShape shape, Index d);

/// Likewise, but for the mean; has_mean: it is not known to be zero.
HyperPosterior hyper_posterior(const Fields& fields, ScaleShape shape, Index d, bool has_mean);

/// The fields that learning changes, but for the mean and its strength; scale: of the effective prior.
NamedArrays learned_variances(const HyperPosterior& q, const Vec& scale, bool full, Index d);

/// x times the units of its two columns, to the power of `sign`. x: D × D, D numbers, or one (whose unit is
/// that of all columns).
void rescale_area(Vec& x, const Vec& unit, int sign);

/// What is a variance, or the inverse of one, between the user's units (sign 1: to them) and the engine's.
void rescale_variances(HyperPosterior& q, const Vec& unit, int sign);
void rescale_variances(HyperpriorOfData& about, const Vec& unit, int sign);

}  // namespace bnpvi
