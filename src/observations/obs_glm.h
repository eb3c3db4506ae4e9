// Yes/no responses, numbers of successes and counts, given covariates.
#pragma once
#include <memory>
#include <vector>

#include "foundation/fields.h"
#include "observations/obs_model.h"

namespace bnpvi {

/// Logistic regression in each cluster, or negative binomial regression if there is a field `size`. The
/// columns of the data are y, or y and n − y; then an offset, if there is a field `offset`; then covariates.
/// With repeated measures, the rows of an individual are kept one by one, since each has its own tangents
/// (see tangent_rows.h) in each cluster.
std::unique_ptr<ObsModel> make_glm(const Fields& fields);

/// The numbers of this model's closing features (registry.h): the curvature.
std::vector<Index> closing_features_of_glm(const Fields& fields);

}  // namespace bnpvi
