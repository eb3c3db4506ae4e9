// Linear systems that switch between modes: their parameters, and what one row of data says of the state.
#pragma once
#include "foundation/types.h"

namespace bnpvi::chains {

/// Known parameters of K modes, for states x of m numbers and rows y of D:
///
///   x_1 ~ N(start_mean, start_var),  x_t = A_k (x_{t−1}, 1) + w_t,  w_t ~ N(0, Q_k),  k = z_t,
///   y_t = C (x_t, 1) + v_t,  v_t ~ N(0, R),  z_2 ~ start,  z_t ~ row z_{t−1} of the transitions.
///
/// The first row has no mode. All matrices by rows; probabilities may be 0.
struct LinearSystem {
  Index k, m, d;
  Vec a, q;                   // K × m × (m + 1), K × m × m
  Vec c, r;                   // D × (m + 1), D × D
  Vec start_mean, start_var;  // m, m × m
  Vec start, transition;      // K, K × K

  /// p(z_t = to | z_{t−1} = from); from < 0 before the second row.
  double step(Index from, Index to) const { return from < 0 ? start[to] : transition[from * k + to]; }
};

/// What is seen of x in one row, as n numbers with independent noise: y_j = c_j'x + N(0, noise_j).
struct Observed {
  Index n = 0;
  Vec c, y, noise;  // n × m, n, n
};

/// The observed cells of a row y (D; NaN: missing), multiplied by L⁻¹ where R = L diag(noise) L' is the
/// unit-triangular decomposition of their part of R, whose determinant is that of the noise alone. Cells
/// whose noise is known given the cells before have noise 0.
Observed observe(const LinearSystem& system, const double* y);

/// x_t | z_t = mode before row t is seen: mean (m) and covariance (m × m) from those of x_{t−1}.
void predict_state(const LinearSystem& system, Index mode, const double* mean, const double* cov,
                   double* new_mean, double* new_cov);

/// Takes one row in, cell by cell, in Joseph's form, which keeps the covariance positive semidefinite under
/// rounding. Returns log p(y | past): NaN where a cell has no noise and is known from the others but for
/// rounding, so that it has no density.
double update_state(const Observed& row, Index m, double* mean, double* cov);

}  // namespace bnpvi::chains
