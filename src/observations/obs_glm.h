// Yes/no responses, numbers of successes and counts, given covariates.
#pragma once
#include <memory>

#include "foundation/fields.h"
#include "observations/obs_model.h"

namespace bnpvi {

/// Logistic regressions of clusters, or with the field `size` negative binomial ones. The columns of the data
/// are y, or y and n − y; an offset, with the field `offset`; and covariates. Of repeated measures the rows
/// of an individual are kept one by one, as each has tangents of its own in each cluster.
std::unique_ptr<ObsModel> make_glm(const Fields& fields);

}  // namespace bnpvi
