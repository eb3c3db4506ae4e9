// Normalisers of Dirichlet rows whose mean is the top level of a hierarchical Dirichlet process.
#pragma once
#include <vector>

#include "foundation/rounded_sum.h"
#include "hdp/sticks.h"

namespace bnpvi {

/// Which lower bound of E c(απ) is taken, c(a) = log Γ(Σ a) − Σ log Γ(a):
///   loose  K log α + Σ_{k≤K+1} E log π_k [Hughes 2016, eq. 5.18], and its sticky form [§6.2.3];
///   tight  never lower than that, with the variance of π_k under q(u) (below).
enum class RowBound { tight, loose };

/// What rows π_row ~ Dirichlet(απ + κδ_own) add to the K log α + Σ_k E log π_k that TopLevel and its caller
/// count (without the E log π of its own cluster for a sticky row):
///   plain row    log Γ(1 + α) − Σ_{l≤K+1} g(π_l),                      g(π) ≥ E log Γ(1 + απ)
///   sticky row k log Γ(α + κ) − h(π_k) − Σ_{l≠k} g(π_l),               h(π) ≥ E log Γ(κ + απ)
/// log Γ is convex, and ψ' decreases, so that with mean m and variance v of π under q(u)
///   g = min{ m log Γ(1 + α),  log Γ(1 + αm) + ½ ζ(2) α² v },
///   h = min{ (1 − m) log Γ(κ) + m log Γ(κ + α),  log Γ(κ + αm) + ½ ψ'(κ) α² v,
///            log Γ(1 + κ + αm) + ½ ψ'(1 + κ) α² v − log(κ + α exp E log π) }.
/// With the first of each the sum is the loose bound or above it. The minimum has kinks: choose() says where
/// each term is, and value() keeps to it, so that a search sees a smooth function.
class DirichletRows {
 public:
  explicit DirichletRows(RowBound bound) : bound_(bound) {}

  /// n rows with this concentration α.
  void add_plain(double n, double concentration);
  /// One row of each of the k clusters, κ = sticky > 0.
  void add_sticky(Index k, double concentration, double sticky);

  /// The least bound of each term at these moments. Before it is called, the first is taken of each.
  void choose(const WeightMoments& pi);

  /// The sum of all rows; its derivatives are added to the gradient, if there is one.
  RoundedSum value(const WeightMoments& pi, WeightMoments* gradient) const;

 private:
  enum class Own { chord, curve, shifted };  // the three bounds of h
  struct Plain {
    double n, concentration;
    bool sticky;                    // then each cluster k ≤ K is a term of n − 1 rows, the remainder of n
    std::vector<bool> by_variance;  // K + 1; empty: the first bound everywhere
  };
  struct Sticky {
    double concentration, sticky;
    std::vector<Own> own;  // K; empty: the first bound everywhere
  };

  const RowBound bound_;
  std::vector<Plain> plain_;
  std::vector<Sticky> sticky_;
};

}  // namespace bnpvi
