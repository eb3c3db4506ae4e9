// Gaussian rows of which cells are missing.
#pragma once
#include <memory>

#include "observations/obs_wishart.h"

namespace bnpvi {

/// The model for rows that may lack responses, NaN in the data, at random given what is observed. Features:
/// those of the inner model, then δ, 1 where the row has any response, and the entropy of q(x_m), 0 in
/// complete rows. With N = T_δ in place of T_0,
///   Λ(T) = Λ_inner(N, T_1, ...) + T_entropy,
/// exact for any q(x_m) that the statistic was formed with. Rows that lack all responses, or any regressor,
/// have no likelihood: their features are zero but for φ_0.
std::unique_ptr<ObsModel> make_partly_observed(std::shared_ptr<const WishartModel> inner);

}  // namespace bnpvi
