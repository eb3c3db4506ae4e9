// How heavy the tails of a cluster are: the degrees of freedom of its rows' scales.
#pragma once
#include "observations/shape_lattice.h"

namespace bnpvi {

/// What the rows of a cluster say of their scales u, of which each row has one: q(u) = Gamma(a, b) in the
/// cluster. u ~ Gamma(ν/2, rate ν/2) makes Gaussian rows with precision u Λ a Student-t distribution with ν
/// degrees of freedom.
///
/// All are sums over rows; with L = Σ r E log u, log_scale is L − W + N, which keeps its digits where all u
/// are near 1. information and used say how the sums came about and are no part of Λ.
struct ScaleSums {
  double n = 0;            // N = Σ r
  double total = 0;        // W = Σ r E u
  double log_scale = 0;    // Σ r (E log u − E u + 1)
  double entropy = 0;      // Σ r H[q(u)]
  double information = 0;  // Σ r Var(log u − u)
  double used = 0;         // Σ r ν, of the weights under which the rows were visited
  double used_square = 0;  // Σ r ν²
};

/// The degrees of freedom ν of a cluster, with a Gamma prior, or known.
class TailWeight {
 public:
  TailWeight(const ShapePrior& prior, Index responses) : prior_(prior), d_(static_cast<double>(responses)) {}

  /// log ∫ p(ν) exp Σ r E log p(u | ν) dν + entropy, with the D/2 Σ r E log u of the rows' Gaussian
  /// densities.
  double log_evidence(const ScaleSums& s) const { return log_evidence(s, posterior(s)); }

  /// Derivatives of this by n, total and log_scale, with the ν of the next visit in place of the posterior's.
  ///
  /// A posterior given the sums is EM's step, which takes hundreds of laps to where rows are Gaussian, as all
  /// u remember the ν that they were found with. The second derivative of the likelihood without u [Louis
  /// 1982] makes a step of Newton's out of it, where the steps of EM have become small. Close to its end,
  /// where the step is below 2 %, and where not all rows were visited under the same ν, these are the
  /// derivatives themselves, which no visit loses by.
  struct Slopes {
    double n, total, log_scale;
  };
  Slopes slopes(const ScaleSums& s) const { return slopes(s, posterior(s)); }
  /// Both, of one posterior.
  double evidence_and_slopes(const ScaleSums& s, Slopes& slopes) const;

  ShapeLattice posterior(const ScaleSums& s) const;
  double mean(const ScaleSums& s) const;

  /// The same derivatives at a ν that is known.
  Slopes slopes_at(double nu) const;

 private:
  double log_evidence(const ScaleSums& s, const ShapeLattice& posterior) const;
  Slopes slopes(const ScaleSums& s, const ShapeLattice& posterior) const;
  double next(const ScaleSums& s, double mean) const;  // ν of a Newton step; 0 where there is none

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
