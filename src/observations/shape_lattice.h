// Integration over the shape of a distribution, of which the rows of a cluster say more or less.
#pragma once
#include <functional>

#include "foundation/gamma_prior.h"
#include "foundation/random.h"
#include "foundation/types.h"

namespace bnpvi {

/// While one lives, lattices that are made on its thread have so few points that integrals are known to a few
/// hundredths of a nat, in a fraction of the time: for choices among many candidates, of which those that are
/// chosen are judged by all points.
class FewPoints {
 public:
  FewPoints() : before_(now_) { now_ = true; }
  ~FewPoints() { now_ = before_; }
  FewPoints(const FewPoints&) = delete;
  FewPoints& operator=(const FewPoints&) = delete;
  static bool now() { return now_; }

 private:
  bool before_;
  static inline thread_local bool now_ = false;
};

/// ∫ p(s) exp Λ_s ds for a shape s ~ Gamma(c, d), by the trapezoid rule in x, where log s = x − e^(−x): the
/// tail s^c of the prior at 0 falls doubly exponentially there, so that the rule is exact to rounding for
/// any smooth Λ_s. The points lie around the mode, and not on a grid, as a cluster of n rows knows log s to
/// about √(2/n).
class ShapeLattice {
 public:
  using Evidence = std::function<double(double)>;  // Λ_s as a function of s

  /// n: about how many rows say something of s. start: where log s probably is; NaN: a search finds it.
  ShapeLattice(const GammaPrior& prior, const Evidence& evidence, double n, double start);

  /// Of a shape that is known.
  ShapeLattice(double shape, const Evidence& evidence)
      : log_integral_(evidence(shape)), shape_{shape}, prob_{1} {}

  double log_integral() const { return log_integral_; }
  const Vec& shape() const { return shape_; }
  const Vec& prob() const { return prob_; }  // q of these shapes, where q(s) ∝ p(s) exp Λ_s; sums to 1

  /// A number from q(s): the points are shifted by a uniform part of their distance, so that it is not one
  /// of them.
  double draw(Stream& stream) const;

 private:
  double height(double x) const;  // log density of x, not normalised
  double height(double x, double* s) const;
  void climb(double x, double step);
  void lay();
  void halve();

  GammaPrior prior_{1, 1};
  Evidence evidence_;
  double log_constant_ = 0, mode_ = 0, top_ = 0, spread_ = 1, first_ = 0, step_ = 0, log_integral_ = 0;
  Vec height_, shape_, prob_;
};

/// log s of the shape with log s − ψ(s) = delta, the best for values of which this is the logarithm of the
/// average less the average of logarithms: to 1.5 % of s [Minka 2002]. NaN where delta has no digits.
double log_best_shape(double delta);

/// The shapes of a column: with a prior, or one that is known.
struct ShapePrior {
  GammaPrior prior{1, 1};
  double known = 0;  // 0: it is not

  ShapeLattice posterior(const ShapeLattice::Evidence& evidence, double n, double start) const {
    return known > 0 ? ShapeLattice(known, evidence) : ShapeLattice(prior, evidence, n, start);
  }
};

}  // namespace bnpvi
