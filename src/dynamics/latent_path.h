// q(x), the posterior of hidden states, which is a Gaussian chain, and the moments of it that models of the
// dynamics use.
#pragma once
#include <functional>

#include "dynamics/emission.h"

namespace bnpvi::dynamics {

/// The data of a linear system in engine units (columns divided by their units), sequences one after the
/// other.
struct Series {
  Index n = 0, d = 0, n_known = 0;
  Vec y;      // n rows × d columns, row-major, NaN where missing
  Vec known;  // n × n_known: known regressors b = ([1], inputs) of the hidden states' dynamics
  std::vector<Index> starts;
  Vec weight;  // weight of each sequence

  Index n_groups() const { return static_cast<Index>(starts.size()) - 1; }
  const double* y_of(Index row) const { return y.data() + row * d; }
  const double* known_of(Index row) const { return known.data() + row * n_known; }
};

/// Prior of the hidden state of the first row of every sequence: x_1 ~ N(mean, P_0).
struct StartPrior {
  Vec mean;            // mean of x_1, m numbers
  Vec precision;       // inverse of P_0, m × m
  double log_det = 0;  // log determinant of P_0
};

/// Moments of q(x), the posterior of the hidden states x of n rows. With v = (x_{t−1}, b_t, x_t), where b_t
/// are known regressors, the features of row t are φ = (1, packed lower triangle of v v'). `features` has
/// their expectations E φ. A Wishart model of the dynamics uses these as it would use φ. If modes have
/// separate emissions, the features of a row are (1, E φ, its statistic of the emission). In the first row of
/// a sequence the part E φ, with its count, is 0.
struct LatentPaths {
  Index n = 0, m = 0, n_known = 0;
  Index before = 0, after = 0;  // length of a feature row before and after the part of the dynamics
  Vec mean;                     // means of the hidden states x, n × m
  Vec var;                      // covariances of the hidden states x, n × m(m+1)/2, packed lower triangles
  Vec features;                 // expected features E φ of the rows, n × n_features(), column-major
  // for each sequence: E log N(x_1; mean, P_0), of its first hidden state under the prior
  Vec start;
  Vec entropy;  // for each sequence: the entropy of q(x)

  LatentPaths() = default;
  LatentPaths(const Series& series, const EmissionPrior& emission);

  Index width() const { return 2 * m + n_known; }                       // length of v = (x_{t−1}, b_t, x_t)
  Index n_dynamics() const { return 1 + width() * (width() + 1) / 2; }  // p, length of E φ of the dynamics
  Index n_features() const { return before + n_dynamics() + after; }
  Index n_var() const { return m * (m + 1) / 2; }
  const double* mean_of(Index row) const { return mean.data() + row * m; }
  const double* var_of(Index row) const { return var.data() + row * n_var(); }

  /// Sets the dynamics' part of feature row t ≥ 1 from the moments of the hidden states of rows t − 1 and t,
  /// known (the regressors b_t) and cross (Cov(x_t, x_{t−1}), m × m, row-major; null: 0).
  void set_features(Index t, const double* known, const double* cross);
  /// Sets the emission's part of a feature row, if there is one, from the observed cells y and the moments of
  /// the row's hidden state.
  void see_row(Index row, const double* y, const EmissionPrior& prior);
};

/// The posterior of the modes of a switching system for some consecutive rows. r: responsibilities, n × K. w:
/// the weights w_k of the modes, K × p. w_k is the gradient of the log evidence of the dynamics by the
/// statistic of mode k. With E φ the expected features of row t (LatentPaths), its expected log density is E
/// log p(x_t | x_{t−1}) = ⟨E φ, Σ_k r_tk w_k⟩.
struct ModeWeights {
  const double* r = nullptr;  // null: there is one mode, K = 1, and every r is 1
  Index k = 1;
  const double* w = nullptr;
};

/// Computes the optimal q(x) of rows from .. to − 1, given the modes and the emission (one, or one for each
/// mode). Row `from` begins a sequence. The precision matrix of the chain is block-tridiagonal, with blocks
/// J_tt and U_t = J_{t,t−1}; h is its linear term. μ_t and V_t are the means and covariances of the states.
/// With D_t = L_t L_t',
///   X_t = L_{t−1}⁻¹ U_t',  D_t = J_tt − X_t'X_t,  y_t = L_t⁻¹(h_t − X_t'y_{t−1})                    (down)
///   A_t = −L_t⁻'X_{t+1},  μ_t = L_t⁻'(y_t − X_{t+1}μ_{t+1}),  V_t = (L_tL_t')⁻¹ + A_tV_{t+1}A_t',
///   Cov(x_{t+1}, x_t) = V_{t+1}A_t'                                                               (up)
/// A Kalman smoother with averaged parameters would be wrong, since potentials averaged over modes are not
/// densities. Fills in the moments and features of these rows, and start and entropy of `group`. `poll` is
/// called every thousand rows. Throws std::domain_error if a D_t is not positive definite.
void smooth_rows(const Series& series, Index from, Index to, Index group, const ModeWeights& modes,
                 const std::vector<Emission>& emission, const StartPrior& prior,
                 const std::function<void()>& poll, LatentPaths& out);

/// Adds the emission's statistic of rows from .. to − 1, times `weight`, to `out`. The moments of the hidden
/// states are those in `paths`.
void add_emission(const Series& series, const EmissionPrior& prior, const LatentPaths& paths, Index from,
                  Index to, double weight, EmissionStatistics& out);

}  // namespace bnpvi::dynamics
