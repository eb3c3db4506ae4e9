// Gaussian rows that each have a scale of their own: Student-t distributions.
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

/// Where the features of rows with a scale u are: φ_0, and then sums of which each row in a cluster adds
///   δ, 1 where it has any response; E u; E u v vᵀ for each block, packed;
///   E log u − E u + 1; the entropy of what it hides; Var(log u − u), and ν and ν² of the weights that it was
///   visited with (ScaleSums).
/// A row as it is, u = 1, has 0 for the last five.
struct ScaledLayout {
  explicit ScaledLayout(std::vector<std::shared_ptr<const WishartModel>> blocks);

  static constexpr Index count = 1, total = 2, squares = 3;

  std::vector<std::shared_ptr<const WishartModel>> block;  // without φ_0 among their second moments
  std::vector<Index> at;                                   // of their second moments, the first
  Index responses = 0, coordinates = 0, log_scale = 0, entropy = 0, visited = 0, p = 0;

  ScaleSums sums(const double* t) const {
    return {std::max(t[count], 0.0), t[total],      t[log_scale], t[entropy], t[visited],
            t[visited + 1],          t[visited + 2]};
  }
  /// A block's own statistic; the first of its numbers is that feature.
  Vec of_block(std::size_t b, const double* t, Index first) const;
  /// The columns of a block.
  Dataset columns_of(std::size_t b, const Dataset& data) const;
};

/// Rows of several blocks of responses, each a Wishart model of columns of its own, with one scale for all:
/// y | z ~ N(M z, (u Λ)⁻¹), u ~ Gamma(ν/2, ν/2), ν a cluster's own. One block has any covariance; blocks of
/// one column, with the constant 1 as their only regressor, a diagonal one. With W = Σ r E u and Σ r E u v
/// vᵀ, N being the count of their Wishart distributions,
///   Λ(T) = Σ_b Λ_b(N, Σ r E u v vᵀ) + (D/2) Σ r E log u + Σ r E log p(u | ν), ν integrated, + entropy,
/// exact for any q(u) that the statistic was formed with. `tails`: what is known of ν. gaps: cells may be
/// missing. The blocks' columns are those of the data, in their order.
std::unique_ptr<ObsModel> make_scaled_rows(std::vector<std::shared_ptr<const WishartModel>> blocks,
                                           const Fields& fields);

/// The model as it is where the fields have no `tails`, but for gaps (as_observed).
std::unique_ptr<ObsModel> as_scaled(const Fields& fields, std::unique_ptr<WishartModel> inner);

/// Rows that lack these coordinates, of all blocks one after the other.
std::unique_ptr<const MissingPattern> make_scaled_pattern(const ScaledLayout& layout, const TailWeight& tails,
                                                          const MissingCells& missing);

/// Such a pattern, or nothing_observed(), for which it is null.
const KeepsProducts* keeping_scaled(const MissingPattern& pattern);

}  // namespace bnpvi
