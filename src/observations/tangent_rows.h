// Rows whose likelihood is logistic in a linear predictor: the local step, by tangents.
#pragma once
#include <memory>

#include "observations/missing_pattern.h"

namespace bnpvi {

/// Responses y with ψ = o + x'b, o an offset:
///   binomial           C(n, y) e^{yψ} / (1 + e^ψ)^n, of n trials;
///   negative binomial  Γ(y + s) / (Γ(s) y!) e^{y(ψ − log s)} / (1 + e^{ψ − log s})^{y + s}, mean e^ψ, s one
///   of
///                      G sizes.
/// Both are exp(constant + κψ) / (2 cosh(ψ/2))^m, ψ with its own offset for each size. With Pólya–Gamma
/// variables [Polson, Scott & Windle 2013], or by tangents in ψ² [Jaakkola & Jordan 2000], for any c
///   log p(y | b) ≥ constant + κψ − ½ω(ψ² − c²) − m log 2cosh(c/2),  ω = m tanh(c/2) / 2c,
/// best at c² = E ψ². Where features are for each size g those of this bound,
///   Σ (κ − ω o) x [E], Σ ω xx' (packed), Σ of all that is without b, and, of weight 0, the curvature
///   Σ m p (1 − p) xx' (packed) at c, from which intervals come: ω is larger than it, so that q(b) is narrow.
struct TangentLayout {
  Index responses;  // columns of the data that are responses: y, or of trials y and n − y
  bool has_offset;  // is there a column of offsets after them? The others are covariates.
  bool intercept;
  Vec centre, unit;  // of the covariates
  Vec size;          // s; empty: binomial
  bool individuals;  // are the data's rows individuals, with the rows of each one after the other?

  Index regressors() const { return static_cast<Index>(unit.size()) + (intercept ? 1 : 0); }  // E
  Index squares() const { return regressors() * (regressors() + 1) / 2; }
  Index columns() const { return responses + (has_offset ? 1 : 0) + static_cast<Index>(unit.size()); }
  Index sizes() const { return size.empty() ? 1 : static_cast<Index>(size.size()); }  // G
  double shift(Index g) const;  // of the offset: −log s

  // Features of the size g: the first of each kind.
  Index linear(Index g) const { return 1 + g * (regressors() + 2 * squares() + 1); }
  Index quadratic(Index g) const { return linear(g) + regressors(); }
  Index constant(Index g) const { return quadratic(g) + squares(); }
  Index curvature(Index g) const { return constant(g) + 1; }
  Index n_features() const { return linear(sizes()); }
};

/// What a row's likelihood is for one size.
struct LogisticTerm {
  double m, kappa, constant, offset;

  double log_likelihood(double psi) const;
};

/// log ∫ p(y | ψ) N(ψ; mean, variance) dψ; mean and variance become those of ψ given y. By the trapezoidal
/// rule, the step of which is as small as the likelihood is narrow.
double logistic_evidence(const LogisticTerm& term, double& mean, double& variance);

/// log p(y of one or more rows | statistic of a cluster).
class TangentPredictive {
 public:
  /// of_rows: `rows` reduced rows (TangentRows) that share their cluster.
  virtual double predictive(const double* t, const double* of_rows, Index rows) const = 0;

 protected:
  ~TangentPredictive() = default;
};

/// Reduced features of a row: 1, y, n (0 of counts), o, the constant for each size, and the regressors.
struct TangentRows {
  explicit TangentRows(const TangentLayout& layout)
      : layout(layout), regressors(4 + layout.sizes()), width(regressors + layout.regressors()) {}

  /// From the cells of the data, y first.
  void write(const double* cells, double* row) const;
  LogisticTerm term(const double* row, Index g) const { return term(row, g, layout.shift(g)); }
  LogisticTerm term(const double* row, Index g, double shift) const;  // shift: that of the size

  const TangentLayout& layout;
  Index regressors, width;
};

/// Units of which each has so many rows with all cells: individuals, or (1) rows.
std::unique_ptr<const MissingPattern> make_tangent_pattern(const TangentLayout& layout, Index rows,
                                                           const TangentPredictive& predictive);

}  // namespace bnpvi
