// A covariance that all clusters share: its three shapes, and its best value for given clusters.
#pragma once
#include "observations/gather.h"

namespace bnpvi {

/// Shapes of the shared covariance: Σ = σ² I (spherical), diagonal Σ, or any Σ (full).
enum class TiedShape { spherical, diagonal, full };

/// The prior of the means of Gaussian clusters with a shared covariance Σ: μ ~ N(mean, Σ / mean_strength).
///   variance: Σ, as one number, D numbers or D × D.
///   data_variance: the variance of each of D columns; Σ is then learned. Empty: Σ is fixed.
///   from_one: learn Σ even while there is only one cluster. The best Σ is then that of all data, and most
///     proposals of new clusters will be refused.
/// If the shape is spherical, all columns have the same unit.
struct TiedPrior {
  TiedShape shape;
  Vec mean;
  double mean_strength;
  Vec variance;
  Vec centre, unit;
  Vec data_variance;
  bool from_one = false;
  Vec rounding = {};  // spacing of the rounded values of each column (Columns)
};

/// The covariance Σ of D columns in engine units (x̃: centred and scaled). Second moments of rows are kept in
/// the shape of Σ: Σ|x̃|² (spherical), Σx̃_j² (diagonal, D numbers), or the lower triangle of Σx̃x̃ᵀ, packed
/// by rows (full).
class TiedVariance {
 public:
  /// Throws std::domain_error if the covariance is not positive definite.
  TiedVariance(const TiedPrior& prior);

  Index n_moments() const;
  double log_det() const { return log_det_; }                               // log|Σ| of the covariance
  Vec precision_times(const Vec& x) const { return times(precision_, x); }  // the product Σ⁻¹x
  Vec root_times(const Vec& x) const { return times(root_, x); }            // the product Lx, with Σ = LLᵀ
  void moment_weights(double* w) const;  // writes −½Σ⁻¹, off-diagonal entries counted twice
  void outer(double weight, const double* x, double* moment) const;  // moment += weight xxᵀ
  // adds `more` to the moments of squares; empty: adds 0
  void add_to_squares(const Vec& more, double* moment) const;
  Vec covariance() const;  // Σ as a full matrix, D × D
  double strain() const;   // largest ratio of a Σ_jj to the squared pivot of its Cholesky factor

  /// The covariance Σ that maximises −(n/2) log|Σ| − ½ tr Σ⁻¹M, in the user's units. M: second moments of n
  /// rows around the means of their clusters. The result is M/n in the shape of Σ, but in each direction at
  /// least 1e-6 of the data's variance. Otherwise Σ would become 0 if rows are equal within every cluster.
  /// (1e-6 is a guess: a thousandth of a column's standard deviation.)
  Vec best(const Vec& moment, double n, const TiedPrior& prior) const;

 private:
  Vec times(const Vec& matrix, const Vec& x) const;  // product with a matrix that has the shape of Σ

  Index d_;
  TiedShape shape_;
  Vec variance_, precision_, root_;  // 1, D, or D × D numbers; root_: L, zero above the diagonal
  double log_det_ = 0, strain_ = 1;
};

}  // namespace bnpvi
