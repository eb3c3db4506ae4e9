// Student-t models: Gaussian rows, each with an unobserved scale that multiplies its precision.
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "foundation/fields.h"
#include "observations/keeps_products.h"
#include "observations/missing_pattern.h"
#include "observations/obs_wishart.h"
#include "observations/tail_weight.h"

namespace bnpvi {

/// Positions of the features of a row with scale u. The features are:
///   φ_0, the count;
///   δ, 1 if the row has any response;
///   E u;
///   E u v vᵀ for each block of responses, packed, where v are the regressors and responses of the block;
///   E log u − E u + 1;
///   the entropy of q of all that is unobserved in the row;
///   Var(log u − u);
///   ν and ν², where ν are the degrees of freedom of the weights at the last visit of the row (ScaleSums).
/// The last five features are 0 for a row with the fixed scale u = 1.
struct ScaledLayout {
  explicit ScaledLayout(std::vector<std::shared_ptr<const WishartModel>> blocks);

  static constexpr Index count = 1, total = 2, squares = 3;

  std::vector<std::shared_ptr<const WishartModel>> block;  // their second moments do not contain φ_0
  std::vector<Index> at;  // position of the first second moment of each block
  Index responses = 0, coordinates = 0, log_scale = 0, entropy = 0, visited = 0, p = 0;

  ScaleSums sums(const double* t) const {
    return {std::max(t[count], 0.0), t[total],      t[log_scale], t[entropy], t[visited],
            t[visited + 1],          t[visited + 2]};
  }
  /// The statistic of block b of responses alone, in the layout of its Wishart model. Its first number is
  /// t[first].
  Vec of_block(std::size_t b, const double* t, Index first) const;
  /// The columns of the data that belong to block b of responses.
  Dataset columns_of(std::size_t b, const Dataset& data) const;
};

/// Makes the model of Student-t rows: Gaussian rows, each with an unobserved scale u. A row consists of
/// blocks of responses, with a Wishart model for each and one scale for all: y | z ~ N(M z, (u Λ)⁻¹), u ~
/// Gamma(ν/2, ν/2). Each cluster has separate degrees of freedom ν. One block gives a full covariance. Blocks
/// of one column, with the constant 1 as their only regressor, give a diagonal covariance.
/// Λ_b is the log evidence of the Wishart model of block b. In it the number of rows N enters the degrees of
/// freedom, and W = Σ r E u is the count among the second moments Σ r E u v vᵀ:
///   Λ(T) = Σ_b Λ_b(N, Σ r E u v vᵀ) + (D/2) Σ r E log u + Σ r E log p(u | ν), ν integrated, + entropy.
/// This is exact for any q(u) from which the statistic was computed. Fields: `tails`, ν or its prior; `gaps`,
/// whether cells may be missing. The columns of the blocks are those of the data, in their order.
/// by_columns: whether the blocks are columns, whose scales are then returned as K × D.
std::unique_ptr<ObsModel> make_scaled_rows(std::vector<std::shared_ptr<const WishartModel>> blocks,
                                           const Fields& fields, bool by_columns);

/// Returns `inner` with an unobserved scale for each row (Student-t rows) if there is a field `tails`.
/// Otherwise returns as_observed(): the model without scales, for rows with missing cells.
std::unique_ptr<ObsModel> as_scaled(const Fields& fields, std::unique_ptr<WishartModel> inner);

/// The pattern of missing cells of rows with scales. `missing` lists the coordinates (regressors and
/// responses) of all blocks one after the other, true if the row lacks the coordinate.
std::unique_ptr<const MissingPattern> make_scaled_pattern(const ScaledLayout& layout, const TailWeight& tails,
                                                          const MissingCells& missing);

/// The KeepsProducts interface of a pattern made by make_scaled_pattern(); null for the pattern
/// nothing_observed().
const KeepsProducts* keeping_scaled(const MissingPattern& pattern);

}  // namespace bnpvi
