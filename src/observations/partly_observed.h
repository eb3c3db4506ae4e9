// Gaussian rows of which cells are missing.
#pragma once
#include <memory>

#include "foundation/fields.h"
#include "observations/obs_wishart.h"

namespace bnpvi {

/// The model for rows that may lack responses, NaN in the data, at random given what is observed. Features:
/// those of the inner model, then δ, 1 where the row has any response, and the entropy of q(x_m), 0 in
/// complete rows. With N = T_δ in place of T_0,
///   Λ(T) = Λ_inner(N, T_1, ...) + T_entropy,
/// exact for any q(x_m) that the statistic was formed with. Rows that lack all responses, or any regressor,
/// have no likelihood: their features are zero but for φ_0.
/// The model as it is where the fields have no `gaps`.
std::unique_ptr<ObsModel> as_observed(const Fields& fields, std::unique_ptr<WishartModel> inner);

}  // namespace bnpvi
