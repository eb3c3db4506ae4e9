// Bounds on the normalisers of Dirichlet rows (probability vectors, one for each group) whose mean π is the
// top level of a hierarchical Dirichlet process.
#pragma once
#include <vector>

#include "foundation/rounded_sum.h"
#include "hdp/sticks.h"

namespace bnpvi {

/// Choice of the lower bound of E c(απ). c(a) = log Γ(Σ a) − Σ log Γ(a) is the log normaliser of a Dirichlet
/// distribution; here its mean is π.
///   loose  K log α + Σ_{k≤K+1} E log π_k [Hughes 2016, eq. 5.18], and its sticky form [§6.2.3];
///   tight  never lower than the loose bound, using the variance of π_k under q(u) (see DirichletRows).
enum class RowBound { tight, loose };

/// The lower bound on the normalisers of rows (probability vectors) ~ Dirichlet(απ + κδ_own), where `own` is
/// the cluster to which a sticky row belongs; κ = 0 for a plain row. TopLevel and its caller already count K
/// log α + Σ_k E log π_k for each row (for a sticky row without E log π of its own cluster). This class adds
/// the rest:
///   plain row    log Γ(1 + α) − Σ_{l≤K+1} g(π_l),                      g(π) ≥ E log Γ(1 + απ)
///   sticky row k log Γ(α + κ) − h(π_k) − Σ_{l≠k} g(π_l),               h(π) ≥ E log Γ(κ + απ)
/// Let m and v be the mean and variance of π under q(u). Since log Γ is convex and ψ' decreases,
///   g = min{ m log Γ(1 + α),  log Γ(1 + αm) + ½ ζ(2) α² v },
///   h = min{ (1 − m) log Γ(κ) + m log Γ(κ + α),  log Γ(κ + αm) + ½ ψ'(κ) α² v,
///            log Γ(1 + κ + αm) + ½ ψ'(1 + κ) α² v − log(κ + α exp E log π) }.
/// If every g and h uses its first expression, the sum is at least the loose bound. The minimum has kinks. So
/// choose() fixes which expression each term uses, and value() keeps to this choice: a search then sees a
/// smooth function.
class DirichletRows {
 public:
  explicit DirichletRows(RowBound bound) : bound_(bound) {}

  /// Adds n plain (not sticky) rows with this concentration α to the bound.
  void add_plain(double n, double concentration);
  /// Adds one sticky row for each of the k clusters to the bound, with concentration α and κ = sticky > 0.
  void add_sticky(Index k, double concentration, double sticky);

  /// Chooses for each g and h (upper bounds of E log Γ, see DirichletRows) the expression that is least at
  /// these moments of π. Until the first call every term uses its first expression.
  void choose(const WeightMoments& pi);

  /// The sum of what all rows add to the bound at these moments of π. If the gradient is not null, its
  /// derivatives are added to it.
  RoundedSum value(const WeightMoments& pi, WeightMoments* gradient) const;

 private:
  // the three expressions for h, the upper bound of E log Γ(κ + απ) for the own cluster of a sticky row (see
  // the class)
  enum class Own { chord, curve, shifted };
  struct Plain {
    double n, concentration;
    /// False: n plain rows. True: K sticky rows, n = K; this part counts their entries except that of the own
    /// cluster. These are n − 1 terms for each cluster k ≤ K, and n terms for the remainder.
    bool sticky;
    // K + 1 flags: does entry k use the second expression of g? Empty: all use the first
    std::vector<bool> by_variance;
  };
  struct Sticky {
    // for each of K clusters, which expression of h is used; empty: the first everywhere
    double concentration, sticky;
    std::vector<Own> own;  // for each of K clusters, the expression of h in use; empty: the first everywhere
  };

  const RowBound bound_;
  std::vector<Plain> plain_;
  std::vector<Sticky> sticky_;
};

}  // namespace bnpvi
