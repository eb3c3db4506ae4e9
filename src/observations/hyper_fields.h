// Reads and writes a hierarchical Gaussian prior as fields of an observation model, in the user's units.
#pragma once
#include "foundation/fields.h"
#include "foundation/named_array.h"
#include "observations/hierarchical_gaussian.h"

namespace bnpvi {

/// The shape of the scale of a cluster's Wishart prior: a D × D matrix (full), D numbers (diagonal), or one
/// number (spherical).
enum class ScaleShape { full, diagonal, spherical };

/// Reads the constants in the priors of the hyperparameters of d columns from the fields: all members but
/// `location`.
HyperpriorOfData hyperprior_of(const Fields& fields, ScaleShape shape, Index d);

/// Reads q(H), the posterior of the hyperparameters of d columns, from the fields: all members but `mean`.
/// has_mean: false if the mean of clusters is known to be zero.
HyperPosterior hyper_posterior(const Fields& fields, ScaleShape shape, Index d, bool has_mean);

/// The fields that learning changes, except the mean and its strength. scale: the scale of the effective
/// prior (the prior of the clusters given the hyperparameters' posterior). full: covariances are full.
NamedArrays learned_variances(const HyperPosterior& q, const Vec& scale, bool full, Index d);

/// Changes the units of variances or inverse variances x: multiplies each entry by the units of its two
/// columns (sign 1), or divides by them (sign −1). x: D × D, or D numbers, or one number for columns with the
/// same unit.
void rescale_area(Vec& x, const Vec& unit, int sign);

/// Converts all variances and inverse variances in q (in the next function, in the hyperprior's constants) to
/// the user's units (sign 1) or to engine units (−1). unit: of each column.
void rescale_variances(HyperPosterior& q, const Vec& unit, int sign);
void rescale_variances(HyperpriorOfData& about, const Vec& unit, int sign);

}  // namespace bnpvi
