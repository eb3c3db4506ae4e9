// How heavy the tails of a cluster are: the degrees of freedom of its rows' scales.
#pragma once
#include "observations/shape_lattice.h"

namespace bnpvi {

/// What the rows of a cluster say of their scales u, of which each row has one: q(u) = Gamma(a, b) in the
/// cluster. u ~ Gamma(ν/2, rate ν/2) makes Gaussian rows with precision u Λ a Student-t distribution with ν
/// degrees of freedom.
///
/// All are sums over rows; with L = Σ r E log u, log_scale is L − W + N, which keeps its digits where all u
/// are near 1. The last three say how the sums came about: Λ does not depend on them.
struct ScaleSums {
  double n = 0;                      // N = Σ r
  double total = 0;                  // W = Σ r E u
  double log_scale = 0;              // Σ r (E log u − E u + 1)
  double entropy = 0;                // Σ r H[q(u)]
  double information = 0;            // Σ r Var(log u − u)
  double used = 0, used_square = 0;  // Σ r ν and Σ r ν², of the weights under which rows were visited
};

/// The degrees of freedom ν of a cluster, with a Gamma prior, or known.
class TailWeight {
 public:
  TailWeight(const ShapePrior& prior, Index responses) : prior_(prior), d_(static_cast<double>(responses)) {}

  /// log ∫ p(ν) exp Σ r E log p(u | ν) dν + entropy, with the D/2 Σ r E log u of the rows' Gaussian
  /// densities.
  double log_evidence(const ScaleSums& s) const { return log_evidence(s, posterior(s)); }

  /// Derivatives of this by n, total and log_scale.
  struct Slopes {
    double n, total, log_scale;
  };
  Slopes slopes(const ScaleSums& s) const { return slopes(posterior(s)); }
  /// Both, of one posterior.
  double evidence_and_slopes(const ScaleSums& s, Slopes& slopes) const;

  ShapeLattice posterior(const ScaleSums& s) const;
  double mean(const ScaleSums& s) const;

  /// The same derivatives at a ν that is known.
  Slopes slopes_at(double nu) const;

  /// What is added to slopes() for a visit of all rows, so that ν comes to rest in a few laps.
  ///
  /// The posterior of ν given the sums is EM's step: all u remember the ν that they were found with, so that
  /// on Gaussian rows a hundred laps or more go by. When ν changes, E ν given the sums of the next visit
  /// changes by ρ = ¼ Var(ν) Σ r Var(log u − u) of that, the share of what is not seen [Louis 1982]: the
  /// step is made 1 / (1 − ρ) times as long. None where not all rows were visited under one ν, as after
  /// moves. Rows that were taken as they are, under `gaussian` degrees of freedom, say nothing of their
  /// tails: ν is 5 next.
  Slopes hastened(const ScaleSums& s) const;
  static constexpr double gaussian = 1e9;
  /// ν of weights with this slope of log_scale.
  static double visited_with(double log_scale, Index responses) {
    return 2 * log_scale + 2 - static_cast<double>(responses);
  }

 private:
  double log_evidence(const ScaleSums& s, const ShapeLattice& posterior) const;
  Slopes slopes(const ShapeLattice& posterior) const;

  ShapePrior prior_;
  double d_;
};

/// q(u) = Gamma(a, b) of rows in a cluster, apart from b / a.
struct ScaleDensity {
  explicit ScaleDensity(double a);

  double a;
  double constant;   // log Γ(a) − a log a + a − a: of log ∫, beside −a log(b / a) and the weights
  double log_scale;  // ψ(a) − log a
  double entropy;    // of Gamma(a, a)
  double spread;     // a ψ'(a) − 1
};

}  // namespace bnpvi
