// The part of the bound of tilted weights (tilt.h) that is summed over covariate patterns.
#pragma once
#include <Eigen/Core>

#include "foundation/rounded_sum.h"
#include "tilt/tilt.h"

namespace bnpvi {

/// The brackets Z̄_c of the bound L (see Tilt) for all covariate patterns c that have rows, and the sums over
/// these patterns. Numbers are stored cluster by cluster, since there are many more patterns than clusters.
class TiltBrackets {
 public:
  /// k: the number of clusters. rows: n_c, the number of rows of each of the C patterns.
  TiltBrackets(const TiltPrior& prior, Index k, const Vec& rows);

  /// Sets the variances x_c'S x_c of cluster j. inverse: L⁻¹, P × P, where S⁻¹ = L Lᵀ.
  void set_variance(Index j, const Vec& inverse);

  /// Computes the brackets at these log π̄ (K + 1 numbers; the last one is −∞ if there is no rest) and means m
  /// of the effects (K × P). Returns −Σ_c n_c log Z̄_c.
  RoundedSum evaluate(const Vec& log_mean, const Vec& mean);

  // Of the last evaluation:
  /// Σ_c n_c ρ_ck for all clusters and the rest (K + 1 numbers), and Σ_c n_c ρ_ck x_c (K × P), which is
  /// subtracted from `by_mean`.
  void sums(Vec& reached, Vec& by_mean) const;
  /// Adds Σ_c n_c ρ_ck x_c x_c' to `to`, K × P × P.
  void add_squares(Vec& to) const;
  /// The shares ρ_ck, C × (K + 1), row-major, if each pattern has one row. log_normalisers: unless null,
  /// receives the C numbers log Z̄_c.
  Vec shares(Vec* log_normalisers) const;

 private:
  using Row = Eigen::Map<Eigen::ArrayXd>;
  using ConstRow = Eigen::Map<const Eigen::ArrayXd>;

  Index n() const { return static_cast<Index>(rows_.size()); }
  Row row(Vec& of, Index i) const { return {of.data() + i * n(), n()}; }
  ConstRow row(const Vec& of, Index i) const { return {of.data() + i * n(), n()}; }
  bool add_terms();

  const Index k_, columns_;
  Vec rows_;           // n_c of the patterns with rows
  Vec x_;              // (1 + P) × patterns with rows: ones, then their covariates
  Vec half_variance_;  // ½ x'S x, K × patterns with rows
  Index width_ = 0;    // K, or K + 1 if there is a rest
  Vec mass_;           // n_c ρ_ck, width × patterns with rows
  Vec log_z_;

  // Scratch of evaluate().
  Vec log_term_, scale_;
  Eigen::ArrayXd top_;
  double shift_ = 0;
};

}  // namespace bnpvi
