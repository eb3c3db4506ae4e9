// Numerical integration over the shape parameter of a distribution.
#pragma once
#include <functional>

#include "foundation/gamma_prior.h"
#include "foundation/random.h"
#include "foundation/types.h"

namespace bnpvi {

/// While an object of this class exists, ShapeLattices made on its thread use few points. Integrals are then
/// exact only to a few hundredths of a nat, but take a fraction of the time. For a choice among many
/// candidates; the chosen ones should be evaluated again with all points.
class FewPoints {
 public:
  FewPoints() : before_(now_), made_before_(made_) { now_ = true; }
  ~FewPoints() { now_ = before_; }
  FewPoints(const FewPoints&) = delete;
  FewPoints& operator=(const FewPoints&) = delete;
  static bool now() { return now_; }

  /// Whether integrals have been computed on this thread since this object was made.
  bool any_integral() const { return made_ > made_before_; }
  static void count_integral() { ++made_; }

 private:
  bool before_;
  unsigned long long made_before_;
  static inline thread_local bool now_ = false;
  static inline thread_local unsigned long long made_ = 0;  // integrals
};

/// The integral ∫ p(s) exp Λ_s ds over a shape s ~ Gamma(c, d), and the posterior of s. Λ_s is the log
/// evidence of the data given s. It is computed by the trapezoid rule in x, where log s = x − e^(−x). In x
/// the tail s^c of the prior at 0 falls doubly exponentially, so the rule is exact to rounding for any smooth
/// Λ_s. The points lie around the mode, not on a fixed grid: n rows determine log s to about √(2/n).
class ShapeLattice {
 public:
  using Evidence = std::function<double(double)>;  // Λ_s as a function of s

  /// evidence: Λ_s as a function of s. n: roughly the number of rows that carry information on s. start: a
  /// guess of log s; if NaN, a search finds one.
  ShapeLattice(const GammaPrior& prior, const Evidence& evidence, double n, double start);

  /// The integral for a shape that is known: Λ_s at this value.
  ShapeLattice(double shape, const Evidence& evidence)
      : log_integral_(evidence(shape)), shape_{shape}, prob_{1} {}

  double log_integral() const { return log_integral_; }
  const Vec& shape() const { return shape_; }
  const Vec& prob() const { return prob_; }  // q(s) ∝ p(s) exp Λ_s at shape(); sums to 1

  /// A draw from the posterior of the shape. All points are shifted by a random part of their distance, so
  /// the draw is not restricted to the points.
  double draw(Stream& stream) const;

 private:
  double height(double x) const;  // log density of x, not normalised
  double height(double x, double* s) const;
  void climb(double x, double step);
  void lay();
  /// Places points `step_` apart around the mode, down to `deep` below it; false if they would be too many.
  bool place_points(double deep);
  void weigh(int halvings);  // halvings: how often the step may be halved for exactness
  void halve();

  GammaPrior prior_{1, 1};
  Evidence evidence_;
  double log_constant_ = 0, mode_ = 0, top_ = 0, spread_ = 1, first_ = 0, step_ = 0, log_integral_ = 0;
  Vec height_, shape_, prob_;
};

/// Solves log s − ψ(s) = delta for the shape s and returns log s; s is exact to 1.5 % [Minka 2002]. The
/// solution is the maximum-likelihood shape of gamma distributed values if delta is the logarithm of their
/// average minus the average of their logarithms. NaN where delta is too small to be distinguished from
/// rounding.
double log_best_shape(double delta);

/// The shape parameter of a column: either known, or with a Gamma prior.
struct ShapePrior {
  GammaPrior prior{1, 1};
  double known = 0;  // the known shape; 0: it has the prior

  ShapeLattice posterior(const ShapeLattice::Evidence& evidence, double n, double start) const {
    return known > 0 ? ShapeLattice(known, evidence) : ShapeLattice(prior, evidence, n, start);
  }
};

}  // namespace bnpvi
