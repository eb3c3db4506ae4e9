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
  bool by_mode;  // true: each mode (state of the switching chain) has its own C, R and G
  Vec a, q, f;   // dynamics A, Q, F of the K modes: K × m × (m + 1), K × m × m, K × m × n_inputs
  // observation matrices C, R, G: D × (m + 1), D × D, D × n_inputs; with by_mode, K of each
  Vec c, r, g;
  Vec start_mean, start_var;  // mean (m) and covariance (m × m) of the first row's state x_1
  Vec start, transition;      // probabilities of the first mode (K) and of the next (K × K)

  /// Probability p(z_t = to | z_{t−1} = from) of a step between modes. from < 0: the row before has no mode,
  /// or does not exist.
  double step(Index from, Index to) const { return from < 0 ? start[to] : transition[from * k + to]; }

  /// The part of the expected value of cell y_j in this mode that does not depend on the state x: the
  /// intercept and the effect of the inputs u.
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
  Vec c, y, noise;  // n cells: coefficients c_j of the state (n × m), values y_j (n), noise variances (n)
};

/// Turns the observed cells of a row y into numbers with independent noise. y: D numbers, NaN: missing; u:
/// the inputs of the row. In this mode cells have correlated noise with covariance R. R restricted to the
/// observed cells is L diag(noise) L' with L unit triangular. The cells minus their offsets are multiplied by
/// L⁻¹. As det L = 1, densities need no factor. A cell whose noise follows from the noise of the cells before
/// it has noise 0.
Observed observe(const LinearSystem& system, Index mode, const double* y, const double* u);

/// Predicts the state x_t in this mode before row t is seen: replaces the mean (m) and covariance (m × m) of
/// x_{t−1} by those of x_t given z_t = mode and the inputs u.
void predict_state(const LinearSystem& system, Index mode, const double* u, const double* mean,
                   const double* cov, double* new_mean, double* new_cov);

/// Updates mean (m) and covariance (m × m) of the state x by one row of data, cell by cell. Joseph's form of
/// the update keeps the covariance positive semidefinite under rounding. Returns log p(row | rows before), or
/// NaN if the row has no density because a cell without noise is determined by the other cells up to
/// rounding.
double update_state(const Observed& row, Index m, double* mean, double* cov);

}  // namespace bnpvi::chains
