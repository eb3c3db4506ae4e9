// Expected values of missing cells of rows, computed by random draws of the rows' features.
#pragma once
#include "features/local_step.h"

namespace bnpvi::features {

/// Moments of every cell of some rows, row-major. They are taken under q of loadings and noise, and under the
/// joint posterior of a row's features z given its observed values (not a product over features). mean,
/// variance: those of zᵀM, where M are the means of the loadings. spread: E[zᵀ V⁻¹ z]. Since the loadings
/// have covariance σ²V⁻¹, they add spread times σ² to the variance of the cell.
struct CellMoments {
  Buffer mean, variance, spread;
};

/// Computes the moments of the cells of a batch by Gibbs sampling of the features z. There are `draws` sweeps
/// after draws/5 discarded ones. They start with the features of probability above ½ in `presence`. All rows
/// use the same random numbers, so the result for a row does not depend on the other rows.
CellMoments draw_cells(const LocalModel& model, const RowBatch& batch, const Presence& presence, Index draws,
                       Pool& pool);

}  // namespace bnpvi::features
