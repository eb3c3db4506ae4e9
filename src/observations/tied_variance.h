// A covariance that all clusters share: its three shapes, and its best value for given clusters.
#pragma once
#include "observations/gather.h"

namespace bnpvi {

/// Shapes of the shared covariance: Σ = σ² I (spherical), diagonal Σ, or any Σ (full).
enum class TiedShape { spherical, diagonal, full };

/// The prior of the means of Gaussian clusters with a shared covariance Σ: μ ~ N(mean, Σ/mean_strength).
/// `variance` holds Σ: one number, D numbers or D × D. If data_variance is given (the squared spread of each
/// of D columns), Σ is learned; if it is empty, Σ is fixed. from_one: learn Σ also while there is one
/// cluster; the best Σ is then that of all data, and most proposals of new clusters will be refused.
/// Spherical: all columns have the same unit.
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

/// The covariance Σ of D columns in engine units (centred and scaled columns x̃). Second moments of rows are
/// kept in the shape of Σ: Σ|x̃|² (spherical), Σx̃_j² (diagonal, D numbers), or the lower triangle of Σx̃x̃ᵀ
/// packed by rows (full).
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
  void add_to_squares(const Vec& more, double* moment) const;        // adds to squares; empty: 0
  Vec covariance() const;                                            // Σ as a full matrix, D × D
  double strain() const;  // largest ratio of a Σ_jj to the squared pivot of its Cholesky factor

  /// The covariance Σ that maximises −(n/2) log|Σ| − ½ tr Σ⁻¹M, for the second moments M of n rows around
  /// their clusters' means, in the user's units. It is M/n in the shape of Σ, but in each direction at least
  /// 1e-6 of the data's variance: otherwise it would become 0 where rows are equal within every cluster.
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
