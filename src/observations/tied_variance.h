// The covariance that all clusters share: its three shapes, and its best value for given clusters.
#pragma once
#include "observations/gather.h"

namespace bnpvi {

/// Σ = σ² I; Σ diagonal; any Σ.
enum class TiedShape { spherical, diagonal, full };

/// A prior of cluster means, μ ~ N(mean, Σ/mean_strength), and the covariance Σ: one number, D or D × D. It
/// is to be learned where data_variance is there, the squared spread of the columns (D); else that is empty.
/// from_one: from one cluster, too, where the best Σ is that of all data and most births will be refused.
/// Spherical ones have the same unit for all columns.
struct TiedPrior {
  TiedShape shape;
  Vec mean;
  double mean_strength;
  Vec variance;
  Vec centre, unit;
  Vec data_variance;
  bool from_one = false;
  Vec rounding = {};  // of the columns (Columns)
};

/// Σ of D columns in engine units. Second moments of rows are kept in the same shape: Σ|x̃|², Σx̃_j² (D), or
/// the lower triangle of Σx̃x̃ᵀ, packed by rows.
class TiedVariance {
 public:
  /// Throws std::domain_error if the covariance is not positive definite.
  TiedVariance(const TiedPrior& prior);

  Index n_moments() const;
  double log_det() const { return log_det_; }                               // log|Σ|
  Vec precision_times(const Vec& x) const { return times(precision_, x); }  // Σ⁻¹x
  Vec root_times(const Vec& x) const { return times(root_, x); }            // Lx, Σ = LLᵀ
  void moment_weights(double* w) const;  // −½Σ⁻¹, entries off the diagonal twice
  void outer(double weight, const double* x, double* moment) const;  // moment += weight xxᵀ
  void add_to_squares(const Vec& more, double* moment) const;        // D numbers of these squares, or none
  Vec covariance() const;                                            // Σ, D × D
  double strain() const;  // the largest Σ_jj over a squared pivot of its factor

  /// Σ with the largest −(n/2) log|Σ| − ½ tr Σ⁻¹M for the moments M of n rows around their clusters' means,
  /// in the user's units: M/n in its shape, but in no direction below 1e-6 of the spread of the data, since
  /// rows that are equal in every cluster would send it to 0. (A guess: a thousandth of a column's standard
  /// deviation.)
  Vec best(const Vec& moment, double n, const TiedPrior& prior) const;

 private:
  Vec times(const Vec& matrix, const Vec& x) const;  // a matrix in the shape of Σ

  Index d_;
  TiedShape shape_;
  Vec variance_, precision_, root_;  // 1, D, or D × D; L, zero above the diagonal
  double log_det_ = 0, strain_ = 1;
};

}  // namespace bnpvi
