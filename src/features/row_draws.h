// Expected values of the cells of rows, by random draws of the rows' features.
#pragma once
#include "features/local_step.h"

namespace bnpvi::features {

/// Moments for every cell, row-major, under q of loadings and noise and the joint posterior of a row's
/// features given its observed values (not a product over features): mean and variance of zᵀM (M and V as in
/// Loadings), and spread = E[zᵀ V⁻¹ z], by which the noise variance is multiplied for the uncertainty of the
/// loadings.
struct CellMoments {
  Buffer mean, variance, spread;
};

/// Computes the moments by Gibbs sampling of z: `draws` sweeps after draws/5 discarded ones, from the
/// features with ν > ½ in `presence`. All rows use the same random numbers, so that the result for a row does
/// not depend on the other rows.
CellMoments draw_cells(const LocalModel& model, const RowBatch& batch, const Presence& presence, Index draws,
                       Pool& pool);

}  // namespace bnpvi::features
