// What hidden states are seen through: one regression for each column, shared by all modes or each mode's
// own.
#pragma once
#include "foundation/types.h"

namespace bnpvi::dynamics {

/// y_j = c_j'(x, 1) + v_j, v_j ~ N(0, 1/ρ_j). `identity`: c_j = e_j is known, d = m, and e = 0 coefficients a
/// column; else c_j | ρ_j ~ N(0, (ρ_j V)⁻¹) with e = m + 1, the constant last. ρ_j ~ Gamma(df/2, scale_j/2),
/// or 1/known_j where `known` is not empty. `by_mode`: each mode has c_j and ρ_j of its own, a priori
/// independent; where their variances are known, too, they are `known_by_mode`, and `known` is the average.
struct EmissionPrior {
  Index d = 0, m = 0;
  bool identity = true, by_mode = false;
  Vec known;          // d variances, or empty
  Vec known_by_mode;  // modes × d, or empty
  double df = 4;      // ν_y
  Vec scale;          // B_y, d
  Vec precision;      // V_y, e × e

  Index e() const { return identity ? 0 : m + 1; }
  /// Numbers that a column's statistic has beside its count: Σ E(y − x_j)², or the packed lower triangle of
  /// Σ E u u' with u = (x, 1, y).
  Index n_moments() const { return identity ? 1 : (e() + 1) * (e() + 2) / 2; }
  /// Of all columns, with their counts.
  Index n_statistics() const { return d * (1 + n_moments()); }
  /// How many modes have a known noise of their own.
  Index n_known_modes() const { return static_cast<Index>(known_by_mode.size()) / d; }
  /// That of the mode which is the given one of these, from 1; 0: of any.
  EmissionPrior of_mode(int name) const;
};

/// Σ over the rows in which a column is observed; missing cells are simply left out.
struct EmissionStatistics {
  Vec count;   // d
  Vec moment;  // d × n_moments

  explicit EmissionStatistics(const EmissionPrior& prior)
      : count(static_cast<std::size_t>(prior.d), 0.0),
        moment(static_cast<std::size_t>(prior.d * prior.n_moments()), 0.0) {}
  /// From numbers one after the other: counts, then moments.
  EmissionStatistics(const EmissionPrior& prior, const double* numbers)
      : count(numbers, numbers + prior.d), moment(numbers + prior.d, numbers + prior.n_statistics()) {}
  void add(const EmissionStatistics& other, double scale);
  /// One row: y (d, NaN where missing), mean (m) and packed covariance of x.
  void add_row(const EmissionPrior& prior, const double* y, const double* mean, const double* var,
               double weight);
};

/// q(C, ρ) of all modes or of one, that is optimal for a statistic, and what it says about x: E log p(y_j |
/// x) = −½ (x'F_j x − 2 x'(G_j y − f_j)) + what does not depend on x, with W_j = E ρ_j, G_j = W_j ĉ_j and F_j
/// = W_j ĉ_j ĉ_j' + V̂_j⁻¹ in parts for x and for the constant.
class Emission {
 public:
  Emission(const EmissionPrior& prior, const EmissionStatistics& statistics);

  /// Σ_j Λ_j, the log evidence of the statistic.
  double value() const { return value_; }

  /// E log p(y | x) of rows with this statistic, at this q.
  double expected(const EmissionStatistics& statistics) const;

  /// Slope of the value by the statistic: n_statistics() numbers, of counts, then of moments. E log p(y | x)
  /// of a row is its product with the row's statistic.
  void weights(double* w) const;

  /// Adds −r (potential of one row) to a precision (m × m, both triangles) and its linear term to h (m).
  void add_potential(const double* y, double r, double* precision, double* h) const;

  /// The same q with E ρ_j multiplied by factor_j, to try a larger step than to the optimum.
  Emission with_noise(const double* factor) const;

  const EmissionPrior& prior() const { return prior_; }
  const Vec& mean_precision() const { return w_; }  // W_j
  const Vec& loadings() const { return c_; }        // ĉ, d × e
  const Vec& inverse() const { return inverse_; }   // V̂_j⁻¹, d × e × e
  const Vec& df() const { return df_; }             // ν̂_j; empty where the noise is known
  const Vec& scale() const { return scale_; }       // B̂_j, likewise; else the known variances

 private:
  void solve_column(Index j, const EmissionStatistics& statistics);
  void fill_potentials();

  EmissionPrior prior_;
  double value_ = 0;
  Vec w_, c_, inverse_, df_, scale_;
  Vec f_, g_, f1_;      // d × m × m, d × m, d × m
  Vec all_f_, all_f1_;  // of a row without gaps
};

}  // namespace bnpvi::dynamics
