// The Beta priors of columns of zeros and ones, given or learned.
#pragma once
#include "foundation/pool.h"
#include "foundation/types.h"

namespace bnpvi {

/// Independent Beta(a_d, b_d) for each column. When `learn`, every a_d and b_d has the hyperprior Gamma(1, 1)
/// (a guess), as a density of its logarithm.
struct BetaPrior {
  Vec a, b;
  bool learn = false;
  bool gaps = false;  // cells may be missing
};

/// Σ log p of a prior that is learned, 0 of one that is given.
double log_hyperprior(const BetaPrior& prior);

/// A prior with at least as large a value of Σ_k Λ(T_k) + log_hyperprior(), for K clusters with statistics T
/// (K × p, ones from the second column, N where ColumnGaps has them), after four rounds of a fixed point: log
/// Γ(a + S)/Γ(a) and log Γ(a + b)/Γ(a + b + N) are bounded from below by functions that touch them at the
/// present values [Minka 2000, §3], under which
///   a ← (1 + a Σ_k [ψ(a + S_k) − ψ(a)]) / (1 + Σ_k [ψ(a + b + N_k) − ψ(a + b)]),   b likewise with N − S.
BetaPrior learn_beta_prior(const BetaPrior& prior, const double* t, Index k, Pool* pool);

}  // namespace bnpvi
