// The degrees of freedom of a cluster of Student-t rows, which say how heavy its tails are.
#pragma once
#include "observations/shape_lattice.h"

namespace bnpvi {

/// Sums over the rows of a cluster, with responsibilities r. Each row has a scale u, given which it is
/// Gaussian with precision u Λ; q(u) = Gamma(a, b). With the prior u ~ Gamma(ν/2, rate ν/2), rows are
/// Student-t with ν degrees of freedom.
///
/// log_scale has Σ r (E log u − E u + 1) instead of Σ r E log u, which would lose digits if all u are near 1.
/// The last three members only say how the sums were formed; the log evidence does not depend on them.
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

  /// The part of the cluster's log evidence that depends on the scales u of its rows:
  ///   log ∫ p(ν) exp(Σ r E log p(u | ν)) dν + entropy of u + (D/2) Σ r E log u
  /// ν: degrees of freedom; r: responsibilities. The last term comes from the Gaussian densities of the D
  /// responses.
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

  /// The derivatives that slopes() would return if the degrees of freedom were known to be nu.
  Slopes slopes_at(double nu) const;

  /// A correction that is added to slopes() before a visit of all rows. With it, the degrees of freedom ν
  /// converge in a few laps (a lap is one pass over all batches).
  ///
  /// Without it, ν moves by EM steps. These are small, because every scale u still reflects the ν under which
  /// it was found: on Gaussian rows, convergence takes a hundred laps or more. If ν changes, E ν given the
  /// sums of the next visit changes by only the fraction
  ///   ρ = ¼ Var(ν) Σ r Var(log u − u)
  /// of that change, the fraction of missing information [Louis 1982]. So the step is made about 1 / (1 − ρ)
  /// times as long.
  ///
  /// There is no correction if rows were visited under different ν, as after moves. If the rows had fixed
  /// scales of 1 (before the first visit, or after one under ν = `gaussian`), the sums have no information on
  /// tails. The next ν is then 5, or the nearest that the prior allows.
  Slopes hastened(const ScaleSums& s) const;
  static constexpr double gaussian = 1e9;
  /// The degrees of freedom ν under which rows were visited. log_scale: the value of slopes_at(ν).log_scale
  /// that the visit used, from which ν is computed.
  static double visited_with(double log_scale, Index responses) {
    return 2 * log_scale + 2 - static_cast<double>(responses);
  }

 private:
  double log_evidence(const ScaleSums& s, const ShapeLattice& posterior) const;
  Slopes slopes(const ShapeLattice& posterior) const;

  ShapePrior prior_;
  double d_;
};

/// Quantities of q(u) = Gamma(a, b), the distribution of a row's scale u, that depend on a only. b / a
/// differs from row to row.
struct ScaleDensity {
  explicit ScaleDensity(double a);

  double a;
  double constant;  // log Γ(a) − a log a + a; log ∫ u^(a−1) e^(−bu) du = constant − a − a log(b/a)
  double log_scale;  // ψ(a) − log a, with the digamma function ψ: E log u if E u = 1
  double entropy;    // entropy of Gamma(a, a)
  double spread;     // a ψ'(a) − 1 = a Var(log u − u) if E u = 1
};

}  // namespace bnpvi
