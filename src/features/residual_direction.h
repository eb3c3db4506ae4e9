// Directions in which a further feature may lie.
#pragma once
#include <vector>

#include "foundation/pool.h"
#include "foundation/random.h"

namespace bnpvi::features {

/// leading: of the largest sum of squares; row: of one row, drawn by its square. Rows that are sums of
/// independent features have, along the direction that tells a feature from all others, scores of two values;
/// and such directions are those in which scores are least Gaussian, as independent component analysis finds
/// them: skewed, of features that few or most rows have, and flat, of those that about half have.
enum class Direction { leading, row, skewed, flat, clearest };

/// A vector of d numbers along which rows of r (· × d, row-major) differ; zeros where the sampled rows are
/// zeros. Skewed and flat directions are fixed points of w ← E[y (w·y)²] and E[y (w·y)³] − 3w [Hyvärinen
/// 1999] within the ten leading directions (a guess), y the whitened scores, from a random start.
Vec residual_direction(const Buffer& r, Index d, const std::vector<Index>& sample, Direction kind,
                       Stream& stream, Pool& pool);

/// Directions, as many as d and the sample allow, along which the scores of the sampled rows are least
/// Gaussian while they remain uncorrelated: where rows are sums of independent features, fewer than columns,
/// these are the directions that tell one feature from all others. With y the whitened scores, W the
/// orthogonal matrix that is the fixed point of W ← polar(F), where column j of F is the gradient of the
/// squares of skewness and excess kurtosis, s²/12 + κ²/48 (their share of negentropy: Jones & Sibson 1987),
/// of u = y·w_j:  ½ s E[y u²] + (κ/6)(E[y u³] − 3 w_j).
std::vector<Vec> independent_directions(const Buffer& r, Index d, const std::vector<Index>& sample,
                                        Stream& stream, Pool& pool);

/// Numbers divided in two by 2-means: the middle between the two means, whether the upper one is farther from
/// 0, and the share of the squares about the mean that the division explains.
struct Division {
  double middle;
  bool upper;
  double explained;
};
Division divide(Vec score);

}  // namespace bnpvi::features
