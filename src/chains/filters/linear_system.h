// Linear systems that switch between modes: their parameters, and what one row of data says of the state.
#pragma once
#include "foundation/types.h"

namespace bnpvi::chains {

/// Known parameters of K modes, for states x of m numbers, rows y of D and known inputs u of q:
///
///   x_1 ~ N(start_mean, start_var),  x_t = A_k (x_{t−1}, 1) + F_k u_t + w_t,  w_t ~ N(0, Q_k),  k = z_t,
///   y_t = C_k (x_t, 1) + G_k u_t + v_t,  v_t ~ N(0, R_k),  z_t ~ row z_{t−1} of the transitions.
///
/// Where C, R and G are those of all modes, the first row has no mode, and z_2 ~ start; else z_1 ~ start. All
/// matrices by rows; probabilities may be 0.
struct LinearSystem {
  Index k, m, d, n_inputs;
  bool by_mode;               // has each mode C, R and G of its own?
  Vec a, q, f;                // K × m × (m + 1), K × m × m, K × m × n_inputs
  Vec c, r, g;                // D × (m + 1), D × D, D × n_inputs, or K of these
  Vec start_mean, start_var;  // m, m × m
  Vec start, transition;      // K, K × K

  /// p(z_t = to | z_{t−1} = from); from < 0: no row before has a mode.
  double step(Index from, Index to) const { return from < 0 ? start[to] : transition[from * k + to]; }

  /// What column j has in this mode whatever the state: its intercept and the effect of u.
  double offset(Index mode, Index j, const double* u) const;
  const double* loadings(Index mode, Index j) const { return c.data() + (seen_by(mode) * d + j) * (m + 1); }
  const double* noise(Index mode, Index j) const { return r.data() + (seen_by(mode) * d + j) * d; }

 private:
  Index seen_by(Index mode) const { return by_mode ? mode : 0; }
};

/// What is seen of x in one row, as n numbers with independent noise: y_j = c_j'x + N(0, noise_j).
struct Observed {
  Index n = 0;
  Vec c, y, noise;  // n × m, n, n
};

/// The observed cells of a row y (D; NaN: missing) with inputs u in a mode, multiplied by L⁻¹ where R = L
/// diag(noise) L' is the unit-triangular decomposition of their part of R, whose determinant is that of the
/// noise alone. Cells whose noise is known given the cells before have noise 0.
Observed observe(const LinearSystem& system, Index mode, const double* y, const double* u);

/// x_t | z_t = mode before row t is seen, with inputs u: mean (m) and covariance (m × m) from those of
/// x_{t−1}.
void predict_state(const LinearSystem& system, Index mode, const double* u, const double* mean,
                   const double* cov, double* new_mean, double* new_cov);

/// Takes one row in, cell by cell, in Joseph's form, which keeps the covariance positive semidefinite under
/// rounding. Returns log p(y | past): NaN where a cell has no noise and is known from the others but for
/// rounding, so that it has no density.
double update_state(const Observed& row, Index m, double* mean, double* cov);

}  // namespace bnpvi::chains
