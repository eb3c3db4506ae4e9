// Directions in the residuals along which a new feature may lie.
#pragma once
#include <vector>

#include "foundation/pool.h"
#include "foundation/random.h"

namespace bnpvi::features {

/// Kinds of directions in the residuals, in the space of columns. leading: the direction with the largest sum
/// of squares. row: that of one row, drawn with probability proportional to its sum of squares. skewed, flat:
/// directions whose scores have large skewness, or large negative excess kurtosis. clearest: of five
/// directions (one leading, two skewed, two flat) the one whose scores form two groups most clearly
/// (Division).
///
/// Reason: if rows are sums of independent features, scores along the direction that separates a feature from
/// all others have two values. They are skewed for features that few or most rows have, and flat (negative
/// excess kurtosis) for features that about half of the rows have.
enum class Direction { leading, row, skewed, flat, clearest };

/// A vector of d numbers along which rows of the residuals r (rows × d, row-major) differ; zeros if the
/// sampled rows are zeros. sample: rows that are used. Skewed and flat directions are fixed points of w ← E[y
/// (w·y)²] and w ← E[y (w·y)³] − 3w [Hyvärinen 1999] within the ten leading directions (a guess), with y the
/// whitened scores, from a random start.
Vec residual_direction(const Buffer& r, Index d, const std::vector<Index>& sample, Direction kind,
                       Stream& stream, Pool& pool);

/// Directions of the residuals r, as many as d and the sample allow, whose scores in the sampled rows are
/// uncorrelated and least Gaussian. If rows are sums of independent features, fewer than columns, these
/// directions separate each feature from the others. With y the whitened scores, W is an orthogonal matrix, a
/// fixed point of W ← polar(F). Column j of F is the gradient, for u = y·w_j, of s²/12 + κ²/48 with skewness
/// s and excess kurtosis κ, an approximation of negentropy [Jones & Sibson 1987]: ½ s E[y u²] + (κ/6)(E[y u³]
/// − 3 w_j).
std::vector<Vec> independent_directions(const Buffer& r, Index d, const std::vector<Index>& sample,
                                        Stream& stream, Pool& pool);

/// Division of numbers into two groups by 2-means: the midpoint of the two means, whether the upper mean is
/// farther from 0, and the share of the sum of squares about the overall mean that the division explains.
struct Division {
  double middle;
  bool upper;
  double explained;
};
Division divide(Vec score);

}  // namespace bnpvi::features
