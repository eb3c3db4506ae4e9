// The emission of a linear dynamical system: a regression of each observed column on the hidden state. All
// modes share the regressions, or each mode has its own.
#pragma once
#include "foundation/types.h"

namespace bnpvi::dynamics {

/// Prior of the emission, the regressions of d observed columns on the hidden state x (m numbers):
///   y_j = c_j'(x, 1) + v_j,  v_j ~ N(0, 1/ρ_j),  j = 1, ..., d.
/// With `identity`, y is x plus noise: d = m, c_j is the j-th unit vector, and there are e = 0 coefficients
/// to learn. Otherwise a column has e = m + 1 coefficients, the constant last, with c_j | ρ_j ~ N(0, (ρ_j
/// V)⁻¹). ρ_j ~ Gamma(df/2, scale_j/2), or ρ_j = 1/known_j if `known` is not empty. With `by_mode`, each mode
/// has its own c_j and ρ_j, independent a priori. If the noise variances of each mode are known, they are in
/// `known_by_mode`, and `known` has their average.
struct EmissionPrior {
  Index d = 0, m = 0;
  bool identity = true, by_mode = false;
  Vec known;          // known noise variances of the d columns, or empty
  Vec known_by_mode;  // known noise variances of each mode, modes × d, or empty
  double df = 4;      // ν_y, degrees of freedom of the prior of ρ_j
  Vec scale;          // B_y: scale_j of the prior of ρ_j, for each column
  Vec precision;      // V, the prior precision of the coefficients up to the factor ρ_j, e × e

  Index e() const { return identity ? 0 : m + 1; }
  /// Length of a column's statistic without its count: 1 for Σ E(y − x_j)² with `identity`, otherwise the
  /// packed lower triangle of Σ E u u' with u = (x, 1, y).
  Index n_moments() const { return identity ? 1 : (e() + 1) * (e() + 2) / 2; }
  /// Length of the statistic of all d columns, with the count of each.
  Index n_statistics() const { return d * (1 + n_moments()); }
  /// Number of modes that have known noise variances of their own.
  Index n_known_modes() const { return static_cast<Index>(known_by_mode.size()) / d; }
  /// The prior for one mode. name: the number (from 1) of the mode's noise variances in `known_by_mode`. 0:
  /// the mode has no known noise of its own, and `known` is kept.
  EmissionPrior of_mode(int name) const;
};

/// Sufficient statistics of the emission: for each observed column, sums over the rows in which it is
/// observed.
struct EmissionStatistics {
  Vec count;   // number of rows in which each column is observed, d
  Vec moment;  // other statistics of each column, d × n_moments

  explicit EmissionStatistics(const EmissionPrior& prior)
      : count(static_cast<std::size_t>(prior.d), 0.0),
        moment(static_cast<std::size_t>(prior.d * prior.n_moments()), 0.0) {}
  /// Reads n_statistics() consecutive numbers: the counts of the d columns, then their moments.
  EmissionStatistics(const EmissionPrior& prior, const double* numbers)
      : count(numbers, numbers + prior.d), moment(numbers + prior.d, numbers + prior.n_statistics()) {}
  void add(const EmissionStatistics& other, double scale);
  /// Adds one row of data y (d, NaN where missing), given mean (m) and packed covariance of the hidden state
  /// x.
  void add_row(const EmissionPrior& prior, const double* y, const double* mean, const double* var,
               double weight);
};

/// The optimal posterior q(C, ρ) of the emission for a statistic, of all modes or of one mode. It gives the
/// hidden state x a quadratic potential:
///   E log p(y_j | x) = −½ (x'F_j x − 2 x'(G_j y − f_j)) + terms without x.
/// W_j = E ρ_j; ĉ_j = E c_j; G_j = W_j ĉ_j; V̂_j is V plus the moments of (x, 1) in the statistic. F_j and
/// f_j are blocks of the matrix W_j ĉ_j ĉ_j' + V̂_j⁻¹: F_j for x with x, f_j for x with the constant.
class Emission {
 public:
  Emission(const EmissionPrior& prior, const EmissionStatistics& statistics);

  /// The log evidence Σ_j Λ_j of the statistic, summed over columns.
  double value() const { return value_; }

  /// E log p(y | x) of rows with this statistic, under this q of the emission.
  double expected(const EmissionStatistics& statistics) const;

  /// Writes the gradient of value() by the statistic to w: n_statistics() numbers, first those of counts,
  /// then those of moments. E log p(y | x) of a row is the inner product of w with the statistic of the row.
  void weights(double* w) const;

  /// Adds the quadratic potential that a row y gives its hidden state, times r. precision: m × m, both
  /// triangles; h: its linear term, m numbers; r: weight of the row.
  void add_potential(const double* y, double r, double* precision, double* h) const;

  /// A copy of this q in which the expected precision E ρ_j of each column's noise is multiplied by factor_j.
  /// A fit may try a step past the optimum.
  Emission with_noise(const double* factor) const;

  const EmissionPrior& prior() const { return prior_; }
  const Vec& mean_precision() const { return w_; }  // W_j = E ρ_j of each column
  const Vec& loadings() const { return c_; }        // ĉ_j = E c_j of each column, d × e
  // V̂_j⁻¹ of each column j, d × e × e: the posterior covariance of its e coefficients, divided by the noise
  // variance
  const Vec& inverse() const { return inverse_; }
  // for each column j, the posterior degrees of freedom of its noise precision ρ_j; empty if the noise is
  // known
  const Vec& df() const { return df_; }
  // for each column j, the posterior scale of its noise precision ρ_j; if the noise is known, its variance
  const Vec& scale() const { return scale_; }

 private:
  void solve_column(Index j, const EmissionStatistics& statistics);
  void fill_potentials();

  EmissionPrior prior_;
  double value_ = 0;
  Vec w_, c_, inverse_, df_, scale_;
  Vec f_, g_, f1_;      // blocks F_j, G_j and f_j of the potential: d × m × m, d × m, d × m
  Vec all_f_, all_f1_;  // sums of F_j and f_j over all columns, for rows without gaps
};

}  // namespace bnpvi::dynamics
