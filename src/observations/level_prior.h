// The Dirichlet prior of the levels of a column, given or learned.
#pragma once
#include "foundation/named_array.h"
#include "foundation/pool.h"
#include "foundation/types.h"

namespace bnpvi {

/// Dirichlet(weight) over D levels. When `share` (the proportion of each level in the data, summing to 1) is
/// not empty, the weights are learned as weight_v = even + common share_v: two numbers, one that is the same
/// for every level and one that makes levels likely in all clusters that are frequent in the data.
struct LevelPrior {
  Vec weight;
  Vec share;
  double even = 0, common = 0;
};

/// A learnable prior after a few rounds of a fixed point that never lowers Σ_k Λ(T_k), for K clusters with
/// statistics T (K × p, counts from the second column). Γ(λ + x)/Γ(λ) and Γ(Λ)/Γ(Λ + n) are bounded from
/// below by functions that touch them at the present λ [Minka 2000, "Estimating a Dirichlet distribution",
/// §3], and each level's c_v = λ_v Σ_k [ψ(λ_v + T_kv) − ψ(λ_v)] is divided between the two parts of its
/// weight by their size; so for either part h with direction m (ones, or the shares)
///   h ← h Σ_v m_v c_v/λ_v / (Σ_v m_v Σ_k [ψ(Λ + T_k) − ψ(Λ)]),   Λ = Σ_v λ_v.
/// Both parts stay within [1e-8, 1e50], the range in which a prior may be given, as the optimum may be 0,
/// which a round approaches by a constant factor.
LevelPrior learn_level_prior(LevelPrior prior, const double* t, Index k, Pool* pool);

/// Parameters λ + counts of the posteriors of K clusters with such statistics, K × D.
NamedArray dirichlet_array(const Vec& weight, const double* t, Index k);

}  // namespace bnpvi
