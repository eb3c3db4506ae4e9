// A hierarchical prior that clusters of counts share, with a posterior of its hyperparameters.
#pragma once
#include <optional>
#include <vector>

#include "foundation/pool.h"
#include "foundation/types.h"
#include "observations/capabilities.h"

namespace bnpvi {

/// The grid 2^low, ..., 2^high of whole powers of two; all have the same prior weight.
struct PowersOfTwo {
  int low, high;
};

struct SharePosterior;

/// Checks a q stored in a fit; throws std::invalid_argument where it is not a valid posterior.
SharePosterior checked(SharePosterior q);

/// q(H), the posterior of the hyperparameters of the model below.
struct SharePosterior {
  double even = 0, common = 0;  // the two powers of two of the prior; single values, without a distribution
  Vec omega;                    // ω, Dirichlet parameters of q(β), for all levels, column by column
};

/// The hierarchical model of proportions φ_kj of the V_j levels of column j in cluster k:
///   φ_kj | β_j ~ Dir(even + common β_j);   β_j ~ Dir(½, ..., ½);
///   even and common: each a power of two from its grid, the same for all columns; even may be known to be 0.
/// In text, terms are the levels of a single column.
///
/// q(β_j) = Dir(ω_j), and q(φ | β) is its conditional. Given β a cluster with counts T has the evidence of a
/// Dirichlet–multinomial, in which log Γ(λ + T) − log Γ(λ) is convex in log β for whole counts. So with
/// λ = even + common exp(E log β) and A_j = V_j even + common
///   Λ(T) = Σ_j {log Γ(A_j) − log Γ(A_j + T_j·) + Σ_v [log Γ(λ_v + T_v) − log Γ(λ_v)]}
/// is at most its mean under q, and Σ_k Λ(T_k) + log_density(q) is a lower bound of the log evidence of all
/// clusters in the hierarchical model. This holds for counts of tokens that are shared between clusters,
/// too: Λ is the log evidence of a Dirichlet–multinomial with one more level, of weight A_j − Σ_v λ_v and
/// never observed, and that evidence is convex in T. It is not a bound where the data themselves have
/// fractional counts.
///
/// The spare weight A_j − Σ λ_v is the price of not knowing β. It enters only Λ and its gradient.
/// Predictions and draws use mean_weights(), E_q(even + common β), which sum to A_j. The probability of the
/// next token, E_q(φ_v) = (even + common E β_v + T_v) / (A_j + T_j·), is then exact and sums to 1 over the
/// levels. It is at least as large as with the weights λ of Λ, since E β ≥ exp(E log β).
class HierarchicalDirichlet {
 public:
  explicit HierarchicalDirichlet(std::vector<Index> levels, PowersOfTwo common)
      : HierarchicalDirichlet(std::move(levels), common, {0, -1}) {}
  HierarchicalDirichlet(std::vector<Index> levels, PowersOfTwo common, PowersOfTwo even);

  Vec weights(const SharePosterior& q) const;                 // λ for all levels
  Vec mean_weights(const SharePosterior& q) const;            // E_q(even + common β) for all levels
  double total(const SharePosterior& q, Index column) const;  // A_j, the total weight of column j

  /// −KL(q(β) ‖ p(β)), plus the log prior weights of the two points `even` and `common`.
  double log_density(const SharePosterior& q) const;
  double log_weight_of_points() const;  // log prior weights of `even` and `common`

  /// Counts of all levels in K clusters, whose rows are `ld` apart. apart: for each cluster, the levels that
  /// do not have the common prior (its keywords, see KeywordTerms); Λ is then that of the other levels, given
  /// that a token is one of them. If `apart` is null, or has no entry for a cluster, all levels have the
  /// common prior. Allowed only with one column.
  struct Counts {
    const double* t;
    Index k, ld;
    Pool* pool = nullptr;
    std::vector<const std::vector<int>*> apart;
  };

  /// The lower bound Σ_k Λ(T_k) + log_density(q) of the log evidence of all clusters.
  double bound(const SharePosterior& q, const Counts& counts) const;

  /// The update ω_v = ½ + common exp(E log β_v) Σ_k [ψ(λ_v + T_kv) − ψ(λ_v)], which maximises a minorant of
  /// the bound for whole counts, and has not been seen to lower it for others. For a cluster in which v is
  /// apart, the term in the sum is ψ(A_o + m) − ψ(A_o) instead, with A_o the total weight of the other
  /// levels and m their counts.
  SharePosterior refreshed(const SharePosterior& q, const Counts& counts) const;

  /// Improves q by some rounds of refreshed() and, in a search, by steps of `even` and `common` to
  /// neighbouring grid points. Returns q itself where the bound does not rise.
  SharePosterior improved(const SharePosterior& q, PriorSteps steps, const Counts& counts) const;

 private:
  struct Column {
    Index at, levels;
  };
  struct Point;
  Point at(SharePosterior q, const Counts& counts) const;
  void take_apart(const Counts& counts, Point& at) const;
  Point after_rounds(Point from, int rounds, const Counts& counts) const;
  std::optional<SharePosterior> after_step(const SharePosterior& q, int step) const;
  SharePosterior refreshed(const Point& from) const;
  Vec shared_weights(const SharePosterior& q) const;

  std::vector<Column> columns_;
  Index levels_ = 0;  // number of levels of all columns together
  PowersOfTwo common_, even_;
};

}  // namespace bnpvi
