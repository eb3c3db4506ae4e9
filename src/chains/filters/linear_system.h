// Linear systems that switch between modes: their parameters, and the update of the state by one row of data.
#pragma once
#include "foundation/types.h"

namespace bnpvi::chains {

/// Known parameters of a linear system with K modes. In row t: x_t: hidden state, m numbers; y_t: data, D
/// numbers; u_t: known inputs; z_t = k: mode; w_t, v_t: noise.
///
///   x_1 ~ N(start_mean, start_var),  x_t = A_k (x_{t−1}, 1) + F_k u_t + w_t,  w_t ~ N(0, Q_k),  k = z_t,
///   y_t = C_k (x_t, 1) + G_k u_t + v_t,  v_t ~ N(0, R_k),  z_t ~ row z_{t−1} of the transitions.
///
/// by_mode = true: each mode has its own C, R and G, and z_1 ~ start. by_mode = false: all modes share C, R
/// and G; the first row then has no mode, and z_2 ~ start. All matrices are stored by rows. Probabilities may
/// be 0.
struct LinearSystem {
  Index k, m, d, n_inputs;
  bool by_mode;  // true: each mode has its own C, R and G
  Vec a, q, f;   // A, Q, F of the K modes: K × m × (m + 1), K × m × m, K × m × n_inputs
  // C, R, G: D × (m + 1), D × D, D × n_inputs; if by_mode, K such matrices each
  Vec c, r, g;
  Vec start_mean, start_var;  // mean (m) and covariance (m × m) of the hidden state x_1
  Vec start, transition;      // probabilities of the first mode (K) and of the next (K × K)

  /// The probability p(z_t = to | z_{t−1} = from) of the next mode. from < 0: there is no row before, or it
  /// has no mode.
  double step(Index from, Index to) const { return from < 0 ? start[to] : transition[from * k + to]; }

  /// The part of the expected value of cell y_j in this mode that does not depend on the state x: the
  /// intercept and the effect of the inputs u.
  double offset(Index mode, Index j, const double* u) const;
  const double* loadings(Index mode, Index j) const { return c.data() + (seen_by(mode) * d + j) * (m + 1); }
  const double* noise(Index mode, Index j) const { return r.data() + (seen_by(mode) * d + j) * d; }

 private:
  Index seen_by(Index mode) const { return by_mode ? mode : 0; }
};

/// What one row of data says about the hidden state x: n numbers y_j = c_j'x + N(0, noise_j) with independent
/// noise.
struct Observed {
  Index n = 0;
  Vec c, y, noise;  // coefficients c_j of the state (n × m), the numbers y_j (n), variances noise_j (n)
};

/// Turns the observed cells of a row y into numbers with independent noise. y: D numbers, NaN: missing. u:
/// inputs of the row. The noise of cells in this mode is correlated, with covariance R. Let R of the observed
/// cells be L diag(noise) L' with L unit triangular. The cells minus their offsets are multiplied by L⁻¹. As
/// det L = 1, densities do not change. A cell gets noise 0 if its noise is a linear combination of the noise
/// of cells before it.
Observed observe(const LinearSystem& system, Index mode, const double* y, const double* u);

/// Predicts the hidden state x_t before row t is seen. mean (m) and cov (m × m): those of x_{t−1}. new_mean,
/// new_cov: receive those of x_t given z_t = mode and the inputs u.
void predict_state(const LinearSystem& system, Index mode, const double* u, const double* mean,
                   const double* cov, double* new_mean, double* new_cov);

/// Updates mean (m) and covariance (m × m) of the hidden state x by one row of data, cell by cell. Joseph's
/// form of the update keeps the covariance positive semidefinite under rounding. Returns log p(row | rows
/// before). Returns NaN if the row has no density: up to rounding, a cell without noise is determined by the
/// other cells.
double update_state(const Observed& row, Index m, double* mean, double* cov);

}  // namespace bnpvi::chains
