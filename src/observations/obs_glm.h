// Regression models of yes/no responses, numbers of successes, and counts.
#pragma once
#include <memory>
#include <vector>

#include "foundation/fields.h"
#include "observations/obs_model.h"

namespace bnpvi {

/// Makes the model of logistic regression in each cluster, or of negative binomial regression if there is a
/// field `size`. The data have the columns: the response y, or y successes and n − y failures; an offset, if
/// there is a field `offset`; covariates. With repeated measures, the rows of an individual are kept one by
/// one, as the quadratic bound of the likelihood (tangent_rows.h) differs between rows and clusters.
std::unique_ptr<ObsModel> make_glm(const Fields& fields);

/// The numbers of this model's closing features (registry.h): the curvature.
std::vector<Index> closing_features_of_glm(const Fields& fields);

}  // namespace bnpvi
