// Expected values of missing cells of rows, computed by random draws of the rows' features.
#pragma once
#include "features/local_step.h"

namespace bnpvi::features {

/// Moments of every cell of some rows, row-major, under q of loadings and noise and the joint posterior of a
/// row's features z given its observed values (not a product over features). mean and variance are those of
/// zᵀM, with M the means of the loadings; spread = E[zᵀ V⁻¹ z] says how much the uncertainty of the loadings,
/// with covariance σ²V⁻¹, adds to the variance: spread times the noise variance σ².
struct CellMoments {
  Buffer mean, variance, spread;
};

/// Computes the moments of the cells of a batch by Gibbs sampling of the features z: `draws` sweeps after
/// draws/5 discarded ones, starting with the features that have a probability above ½ in `presence`. All rows
/// use the same random numbers, so that the result for a row does not depend on the other rows.
CellMoments draw_cells(const LocalModel& model, const RowBatch& batch, const Presence& presence, Index draws,
                       Pool& pool);

}  // namespace bnpvi::features
