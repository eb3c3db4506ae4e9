// The path of a mean that takes a random step from each time to the next.
#pragma once
#include "foundation/random.h"
#include "foundation/types.h"

namespace bnpvi {

/// The prior of a path of means θ_1, ..., θ_T: θ_1 | Λ ~ N(m, (κΛ)⁻¹), θ_{t+1} = θ_t + N(0, τ_t Λ⁻¹). Λ is
/// the precision of the rows of the cluster. All variances are multiples of Λ⁻¹. So the multiples in the
/// posterior (DriftPath) are scalars that depend only on the numbers of rows.
struct DriftPrior {
  Vec mean;         // m, the mean at the first time (D numbers)
  double strength;  // κ, the strength of that mean
  Vec step;         // τ_t, the variances of the steps, T − 1 numbers; empty: there is one time

  Index columns() const { return static_cast<Index>(mean.size()); }
  Index times() const { return static_cast<Index>(step.size()) + 1; }
};

/// The posterior of a path of means θ_1, ..., θ_T given rows x | t ~ N(θ_t, Λ⁻¹) with known precision Λ. Time
/// t has N_t rows with sum S_t; κ and τ are those of DriftPrior. The posterior is computed by the Kalman
/// filter
///   κ_{t|t} = κ_{t|t−1} + N_t,  μ_t = (κ_{t|t−1} μ_{t−1} + S_t)/κ_{t|t},
///   κ_{t+1|t} = κ_{t|t}/(1 + τ_t κ_{t|t})
/// and the smoother, with g_t = 1/(1 + τ_t κ_{t|t}),
///   v̄_t = g_t (τ_t + g_t v̄_{t+1}),  μ̄_t = g_t (τ_t κ_{t|t} μ_t + μ̄_{t+1}).
/// None of these formulas subtracts, so the prior may be arbitrarily weak. The result is θ_t ~ N(μ̄_t, v̄_t
/// Λ⁻¹). Given θ_{t+1}, θ_t ~ N(μ̄_t + g_t (θ_{t+1} − μ̄_{t+1}), τ_t g_t Λ⁻¹).
class DriftPath {
 public:
  /// slots: for each time the number N_t of its rows and their sum S_t (D numbers). A negative N_t, which
  /// only rounding can cause, counts as 0.
  DriftPath(const DriftPrior& prior, const double* slots);

  double log_ratio() const { return log_ratio_; }  // Σ_t log(κ_{t|t−1}/κ_{t|t})

  double strength(Index t) const { return after_[t]; }  // κ_{t|t}, the strength after the rows of time t
  const double* filtered(Index t) const { return filtered_.data() + t * d_; }  // μ_t, the filtered mean

  /// Calls f(c, x) for terms c xxᵀ. Added to the second moment of the rows around 0, they give the second
  /// moment around the filtered means. Each time with rows has two terms: κ_{t|t−1} μ_{t−1}μᵀ_{t−1} and
  /// −κ_{t|t} μ_tμ_tᵀ.
  template <class F>
  void for_squares(F f) const {
    for (Index t = 0; t < times_; ++t) {
      if (after_[t] == before_[t]) continue;
      f(before_[t], t == 0 ? start_.data() : filtered_.data() + (t - 1) * d_);
      f(-after_[t], filtered_.data() + t * d_);
    }
  }

  /// Computes the posterior means and variances of all θ_t. Must be called before mean(), variance() and
  /// draw().
  void smooth();
  const double* mean(Index t) const { return mean_.data() + t * d_; }  // μ̄_t, the smoothed mean
  double variance(Index t) const { return variance_[t]; }              // v̄_t, the smoothed variance

  /// Draws the path of means θ_1, ..., θ_T from its posterior; returns Aθ_t for all times, T × D, where A is
  /// a root of the rows' precision Λ (AᵀA = Λ). image: A times the posterior mean of θ_t, for all times (T ×
  /// D).
  Vec draw(const Vec& image, Stream& stream) const;

 private:
  double gain(Index t) const { return 1 / (1 + step_[t] * after_[t]); }

  Index times_, d_;
  Vec start_, step_;
  Vec before_, after_;  // κ_{t|t−1} and κ_{t|t}, strengths before and after the rows of t
  Vec filtered_;        // μ_t, filtered means, T × D
  double log_ratio_ = 0;
  Vec mean_, variance_;
};

}  // namespace bnpvi
