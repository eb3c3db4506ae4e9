// Gaussian models of rows in which cells may be missing.
#pragma once
#include <memory>

#include "foundation/fields.h"
#include "observations/obs_wishart.h"

namespace bnpvi {

/// Returns the model for rows that may lack responses (NaN in the data), at random given the observed ones;
/// if the fields have no `gaps`, returns `inner` itself. The features are those of the inner model, then δ,
/// which is 1 if the row has any response, and the entropy of q(x_m), the distribution of the missing cells,
/// which is 0 in complete rows. In the log evidence Λ, the sum N of δ takes the place of the number of rows
/// T_0:
///   Λ(T) = Λ_inner(N, T_1, ...) + T_entropy,
/// which is exact for any q(x_m) that the statistic was formed with. Rows that lack all responses, or any
/// regressor, have no likelihood: their features are all zero but for φ_0.
std::unique_ptr<ObsModel> as_observed(const Fields& fields, std::unique_ptr<WishartModel> inner);

}  // namespace bnpvi
