// The degrees of freedom of a cluster of Student-t rows, which say how heavy its tails are.
#pragma once
#include "observations/shape_lattice.h"

namespace bnpvi {

/// Sums over the rows of a cluster, with responsibilities r, of expectations of the rows' scales u, which
/// have q(u) = Gamma(a, b). u ~ Gamma(ν/2, rate ν/2) turns Gaussian rows with precision u Λ into Student-t
/// rows with ν degrees of freedom.
///
/// log_scale has Σ r (E log u − E u + 1) in place of Σ r E log u, since it keeps its digits where all u are
/// near 1. The last three members only describe how the sums were formed: the log evidence does not depend on
/// them.
struct ScaleSums {
  double n = 0;                      // N = Σ r, the number of rows
  double total = 0;                  // W = Σ r E u, the sum of the scales
  double log_scale = 0;              // Σ r (E log u − E u + 1), at most 0
  double entropy = 0;                // Σ r H[q(u)], entropy of the scales
  double information = 0;            // Σ r Var(log u − u)
  double used = 0, used_square = 0;  // Σ r ν and Σ r ν² of the weights used for each row
};

/// The degrees of freedom ν of a cluster of Student-t rows: either known, or with a Gamma prior.
class TailWeight {
 public:
  TailWeight(const ShapePrior& prior, Index responses) : prior_(prior), d_(static_cast<double>(responses)) {}

  /// The part of the cluster's log evidence that depends on the scales u of its rows, with ν the degrees of
  /// freedom and r the responsibilities: log ∫ p(ν) exp Σ r E log p(u | ν) dν + entropy of u, plus (D/2) Σ r
  /// E log u, which the Gaussian densities of the rows contribute.
  double log_evidence(const ScaleSums& s) const { return log_evidence(s, posterior(s)); }

  /// Derivatives of log_evidence() by the sums n, total and log_scale.
  struct Slopes {
    double n, total, log_scale;
  };
  Slopes slopes(const ScaleSums& s) const { return slopes(posterior(s)); }
  /// Returns log_evidence() and writes slopes(), both computed from the same posterior of the degrees of
  /// freedom.
  double evidence_and_slopes(const ScaleSums& s, Slopes& slopes) const;

  ShapeLattice posterior(const ScaleSums& s) const;
  double mean(const ScaleSums& s) const;

  /// The derivatives that slopes() would return if the degrees of freedom were known to be `nu`.
  Slopes slopes_at(double nu) const;

  /// A correction to add to slopes() before a visit of all rows, so that the degrees of freedom ν converge in
  /// a few laps (a lap is one pass over all batches).
  ///
  /// Without the correction, ν moves by EM steps, which are small because every scale u still reflects the ν
  /// under which it was found: on Gaussian rows, convergence takes a hundred laps or more. If ν changes, E ν
  /// given the sums of the next visit changes by the fraction ρ = ¼ Var(ν) Σ r Var(log u − u) of that change,
  /// the fraction of missing information [Louis 1982]. So the step is made about 1 / (1 − ρ) times as long.
  /// There is no correction where rows were visited under different ν, as after moves. If the rows had fixed
  /// scales of 1 (no visit yet, or one under ν = `gaussian`), the sums carry no information on tails, and ν =
  /// 5, or what the prior allows, is next.
  Slopes hastened(const ScaleSums& s) const;
  static constexpr double gaussian = 1e9;
  /// The degrees of freedom ν under which rows were visited, recovered from the weight of log_scale: the
  /// inverse of slopes_at().
  static double visited_with(double log_scale, Index responses) {
    return 2 * log_scale + 2 - static_cast<double>(responses);
  }

 private:
  double log_evidence(const ScaleSums& s, const ShapeLattice& posterior) const;
  Slopes slopes(const ShapeLattice& posterior) const;

  ShapePrior prior_;
  double d_;
};

/// Quantities of q(u) = Gamma(a, b), the distribution of a row's scale, that depend on a alone; b / a differs
/// from row to row.
struct ScaleDensity {
  explicit ScaleDensity(double a);

  double a;
  double constant;  // log Γ(a) − a log a + a: log ∫ u^(a−1) e^(−bu) du is constant − a − a log(b/a)
  double log_scale;  // ψ(a) − log a, E log u where E u = 1
  double entropy;    // entropy of Gamma(a, a)
  double spread;     // a ψ'(a) − 1
};

}  // namespace bnpvi
