// How heavy the tails of a cluster are: the degrees of freedom of its rows' scales.
#pragma once
#include "observations/shape_lattice.h"

namespace bnpvi {

/// What the rows of a cluster say of their scales u, of which each row has one: q(u) = Gamma(a, b) in the
/// cluster. u ~ Gamma(ν/2, rate ν/2) makes Gaussian rows with precision u Λ a Student-t distribution with ν
/// degrees of freedom.
///
/// All are sums over rows; with L = Σ r E log u, log_scale is L − W + N, which keeps its digits where all u
/// are near 1.
struct ScaleSums {
  double n = 0;          // N = Σ r
  double total = 0;      // W = Σ r E u
  double log_scale = 0;  // Σ r (E log u − E u + 1)
  double entropy = 0;    // Σ r H[q(u)]
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
};

}  // namespace bnpvi
