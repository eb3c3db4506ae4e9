// Linear systems that switch between modes: their parameters, and the update of the state by one row of data.
#pragma once
#include "foundation/types.h"

namespace bnpvi::chains {

/// Known parameters of K modes, for states x of m numbers, rows y of D numbers and known inputs u of q
/// numbers:
///
///   x_1 ~ N(start_mean, start_var),  x_t = A_k (x_{t−1}, 1) + F_k u_t + w_t,  w_t ~ N(0, Q_k),  k = z_t,
///   y_t = C_k (x_t, 1) + G_k u_t + v_t,  v_t ~ N(0, R_k),  z_t ~ row z_{t−1} of the transitions.
///
/// If all modes share C, R and G (by_mode = false), the first row has no mode, and z_2 ~ start; otherwise z_1
/// ~ start. All matrices are stored by rows; probabilities may be 0.
struct LinearSystem {
  Index k, m, d, n_inputs;
  bool by_mode;               // true: each mode has its own C, R and G
  Vec a, q, f;                // dynamics A, Q, F: K × m × (m + 1), K × m × m, K × m × n_inputs
  Vec c, r, g;                // C, R, G: D × (m + 1), D × D, D × n_inputs; by_mode: K of each
  Vec start_mean, start_var;  // mean (m) and covariance (m × m) of x_1
  Vec start, transition;      // probabilities of the first mode (K) and of the next (K × K)

  /// p(z_t = to | z_{t−1} = from); from < 0: the row before has no mode, or does not exist.
  double step(Index from, Index to) const { return from < 0 ? start[to] : transition[from * k + to]; }

  /// The part of E y_j in this mode that does not depend on x: the intercept and the effect of u.
  double offset(Index mode, Index j, const double* u) const;
  const double* loadings(Index mode, Index j) const { return c.data() + (seen_by(mode) * d + j) * (m + 1); }
  const double* noise(Index mode, Index j) const { return r.data() + (seen_by(mode) * d + j) * d; }

 private:
  Index seen_by(Index mode) const { return by_mode ? mode : 0; }
};

/// What one row of data says about the state x: n numbers with independent noise, y_j = c_j'x + N(0,
/// noise_j).
struct Observed {
  Index n = 0;
  Vec c, y, noise;  // coefficients (n × m), values (n), variances (n)
};

/// The observed cells of a row y (D numbers, NaN: missing) in this mode, given inputs u, as numbers with
/// independent noise: less their offsets and multiplied by L⁻¹, where L diag(noise) L', L unit triangular, is
/// R restricted to these cells. det L = 1, so that densities need no factor. A cell whose noise is determined
/// by the noise of the cells before it has noise 0.
Observed observe(const LinearSystem& system, Index mode, const double* y, const double* u);

/// Mean (m) and covariance (m × m) of x_t given z_t = mode and inputs u, before row t is seen, from the mean
/// and covariance of x_{t−1}.
void predict_state(const LinearSystem& system, Index mode, const double* u, const double* mean,
                   const double* cov, double* new_mean, double* new_cov);

/// Updates mean and covariance of the state by one row, cell by cell, in Joseph's form, which keeps the
/// covariance positive semidefinite under rounding. Returns log p(y | past), or NaN where a cell without
/// noise is determined by the other cells up to rounding, so that the row has no density.
double update_state(const Observed& row, Index m, double* mean, double* cov);

}  // namespace bnpvi::chains
