// What the cells of rows are expected to be, by draws of the rows' features.
#pragma once
#include "features/local_step.h"

namespace bnpvi::features {

/// Of every cell, row-major, under q of the loadings and the noise as they are and the probability of the
/// features of a row given its values that these have there, which no product over features is taken for:
/// the expectation of zᵀM, its variance, and E[zᵀ V⁻¹ z], by which the noise variance is multiplied.
struct CellMoments {
  Buffer mean, variance, spread;
};

/// By Gibbs sampling of z, `draws` sweeps after a fifth as many that do not count, from the features that
/// `presence` holds for more probable than not. Random numbers are the same for all rows, so that what is
/// said of a row does not depend on the others.
CellMoments draw_cells(const LocalModel& model, const RowBatch& batch, const Presence& presence, Index draws,
                       Pool& pool);

}  // namespace bnpvi::features
