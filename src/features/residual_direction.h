// Directions in the residuals along which a new feature may lie.
#pragma once
#include <vector>

#include "foundation/pool.h"
#include "foundation/random.h"

namespace bnpvi::features {

/// Kinds of directions of the residuals, in the space of columns.
///   leading: the direction with the largest sum of squares.
///   row: the direction of one row, drawn with probability proportional to its sum of squares.
///   skewed: a direction whose scores have large skewness.
///   flat: a direction whose scores have large negative excess kurtosis.
///   clearest: of one leading, two skewed and two flat directions, that whose scores form two groups most
///   clearly.
///
/// Reason: if rows are sums of independent features, the scores along the direction that separates a feature
/// from all others have two values. They are skewed if few or most rows have the feature, and flat if about
/// half of the rows have it.
enum class Direction { leading, row, skewed, flat, clearest };

/// A direction of d numbers along which the rows of the residuals r (rows × d, row-major) differ. sample: the
/// rows used. It is 0 if these rows are 0. Let y be the whitened scores in the ten leading directions (ten is
/// a guess). From a random start, skewed directions are fixed points of w ← E[y (w·y)²], and flat ones of w ←
/// E[y (w·y)³] − 3w [Hyvärinen 1999].
Vec residual_direction(const Buffer& r, Index d, const std::vector<Index>& sample, Direction kind,
                       Stream& stream, Pool& pool);

/// Directions of the residuals r whose scores in the sampled rows are uncorrelated and least Gaussian; as
/// many as d and the sample allow. If rows are sums of independent features, fewer than columns, these
/// directions separate each feature from the others. With y the whitened scores, the directions are the
/// columns w_j of an orthogonal matrix W, a fixed point of W ← polar(F). Column j of F is the gradient of
/// s²/12 + κ²/48, an approximation of negentropy [Jones & Sibson 1987], where s is the skewness and κ the
/// excess kurtosis of u = y·w_j: F_j = ½ s E[y u²] + (κ/6)(E[y u³] − 3 w_j).
std::vector<Vec> independent_directions(const Buffer& r, Index d, const std::vector<Index>& sample,
                                        Stream& stream, Pool& pool);

/// A division of numbers into two groups by 2-means. middle: the midpoint of the two means. upper: whether
/// the upper mean is farther from 0. explained: the share of the sum of squares about the overall mean that
/// the division explains.
struct Division {
  double middle;
  bool upper;
  double explained;
};
Division divide(Vec score);

}  // namespace bnpvi::features
