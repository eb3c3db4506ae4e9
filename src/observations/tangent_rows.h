// Rows whose likelihood is logistic in a linear predictor. A quadratic lower bound (a tangent) of the log
// likelihood makes them conjugate.
#pragma once
#include <memory>

#include "observations/missing_pattern.h"

namespace bnpvi {

/// Layout of the features of rows with response y and linear predictor ψ = o + x'b. o: offset; x: E
/// regressors; b: their coefficients. The likelihoods are
///   binomial           C(n, y) e^{yψ} / (1 + e^ψ)^n, n trials;
///   negative binomial  Γ(y + s) / (Γ(s) y!) e^{y(ψ − log s)} / (1 + e^{ψ − log s})^{y + s}: mean e^ψ,
///                      and the size s is one of G values.
/// Both have the form exp(constant + κψ) / (2 cosh(ψ/2))^m, with κ and m known from y, n and s
/// (LogisticTerm); for each size, −log s is added to the offset. By Pólya–Gamma variables [Polson, Scott &
/// Windle 2013], or by tangents in ψ² [Jaakkola & Jordan 2000], a lower bound for any number c is
///   log p(y | b) ≥ constant + κψ − ½ω(ψ² − c²) − m log 2cosh(c/2),  ω = m tanh(c/2) / 2c.
/// It is best at c² = E ψ².
///
/// The features are the sums of the bound's terms, for each size g: Σ (κ − ω o) x (E numbers), Σ ω xx'
/// (packed), and the sum of all terms without b. A last group of features, with weight 0, is the curvature Σ
/// m p (1 − p) xx' (packed) of the log likelihood at c, with p = 1 / (1 + e^−c). Intervals use it instead of
/// ω: ω exceeds the curvature, so q(b) is too narrow. It is summed only at the end of a fit
/// (closing_features()).
struct TangentLayout {
  Index responses;  // number of response columns: 1 (y), or 2 for trials (y and n − y)
  bool has_offset;  // does a column of offsets follow? The remaining columns are covariates
  bool intercept;
  Vec centre, unit;  // centre and unit of the covariates
  Vec size;          // s, the values of the size; empty: binomial
  bool individuals;  // is each row of the data an individual, with its rows one after the other?

  Index regressors() const { return static_cast<Index>(unit.size()) + (intercept ? 1 : 0); }  // E
  Index squares() const { return regressors() * (regressors() + 1) / 2; }
  Index columns() const { return responses + (has_offset ? 1 : 0) + static_cast<Index>(unit.size()); }
  Index sizes() const { return size.empty() ? 1 : static_cast<Index>(size.size()); }  // G, number of sizes
  double shift(Index g) const;  // added to the offset: −log s

  // Positions of the first feature of each kind (linear, quadratic, constant, curvature) for size number g.
  Index linear(Index g) const { return 1 + g * (regressors() + 2 * squares() + 1); }
  Index quadratic(Index g) const { return linear(g) + regressors(); }
  Index constant(Index g) const { return quadratic(g) + squares(); }
  Index curvature(Index g) const { return constant(g) + 1; }
  Index n_features() const { return linear(sizes()); }
};

/// The likelihood of one row for one size, as a function of the linear predictor ψ: the numbers in
/// exp(constant + κψ) / (2 cosh(ψ/2))^m, and the offset.
struct LogisticTerm {
  double m, kappa, constant, offset;

  double log_likelihood(double psi) const;
};

/// log ∫ p(y | ψ) N(ψ; mean, variance) dψ for a Gaussian linear predictor ψ, by the trapezoidal rule. Its
/// step is proportional to the width of the likelihood. On return, mean and variance are those of ψ given y.
double logistic_evidence(const LogisticTerm& term, double& mean, double& variance);

/// Interface for predictive log densities: log p(y of one or more rows | statistic of a cluster).
class TangentPredictive {
 public:
  /// The log density of several rows in a cluster with statistic t. of_rows: the reduced features
  /// (TangentRows) of `rows` rows, one row after the other.
  virtual double predictive(const double* t, const double* of_rows, Index rows) const = 0;

 protected:
  ~TangentPredictive() = default;
};

/// The reduced features of a row, from which all computations with tangents start: 1, the response y, the
/// number of trials n (0 for counts), the offset, the constant for each size, and the regressors.
struct TangentRows {
  explicit TangentRows(const TangentLayout& layout)
      : layout(layout), regressors(4 + layout.sizes()), width(regressors + layout.regressors()) {}

  /// Computes the reduced features of a row. cells: its cells, `stride` apart, the response y first.
  void write(const double* cells, Index stride, double* row) const;
  LogisticTerm term(const double* row, Index g) const {
    return term(row[1], row[2], row[3] + layout.shift(g), row[4 + g], g);
  }
  /// offset: includes the shift of size number g; constant: that of this size.
  LogisticTerm term(double y, double trials, double offset, double constant, Index g) const {
    if (layout.size.empty()) return {trials, y - 0.5 * trials, constant, offset};
    return {y + layout.size[g], 0.5 * (y - layout.size[g]), constant, offset};
  }

  const TangentLayout& layout;
  Index regressors, width;
};

/// The MissingPattern of units with `rows` complete rows each, where a unit is an individual with repeated
/// measures or, with rows = 1, a single row.
std::unique_ptr<const MissingPattern> make_tangent_pattern(const TangentLayout& layout, Index rows,
                                                           const TangentPredictive& predictive);

}  // namespace bnpvi
