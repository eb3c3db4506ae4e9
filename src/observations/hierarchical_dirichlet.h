// A hierarchical prior of the proportions of levels (or terms) in clusters, with a posterior of its
// hyperparameters.
#pragma once
#include <optional>
#include <vector>

#include "foundation/pool.h"
#include "foundation/types.h"
#include "observations/capabilities.h"

namespace bnpvi {

/// A grid of candidate values of a hyperparameter: the powers 2^low, ..., 2^high. They have equal prior
/// weights.
struct PowersOfTwo {
  int low, high;
};

struct SharePosterior;

/// Checks a posterior of hyperparameters that was stored in a fit, and returns it; throws
/// std::invalid_argument if it is not valid.
SharePosterior checked(SharePosterior q);

/// The posterior q(H) of the hyperparameters of a HierarchicalDirichlet: the total weights `even` and
/// `common`, and the shared proportions β.
struct SharePosterior {
  double even = 0, common = 0;  // the two powers of two of the prior; single values, without a distribution
  Vec omega;                    // ω, Dirichlet parameters of q(β), for all levels, column by column
};

/// The hierarchical model of the proportions φ_kj of the V_j levels of column j in cluster k:
///   φ_kj | β_j ~ Dir(even + common β_j);   β_j ~ Dir(½, ..., ½).
/// even and common are each a power of two from a grid, the same for all columns; even may be known to be 0.
/// In text, terms are the levels of a single column.
///
/// The posterior is q(β_j) = Dir(ω_j); given β, φ has its exact posterior. Let λ = even + common exp(E log β)
/// and A_j = V_j even + common. For a cluster with counts T, let
///   Λ(T) = Σ_j {log Γ(A_j) − log Γ(A_j + T_j·) + Σ_v [log Γ(λ_v + T_v) − log Γ(λ_v)]}.
/// Given β, the log evidence of a cluster is that of a Dirichlet–multinomial, in which log Γ(λ + T) − log
/// Γ(λ) is convex in log β for whole counts. So Λ(T) is at most the mean of this log evidence under q, and
/// Σ_k Λ(T_k) + log_density(q) is a lower bound of the log evidence of all clusters in the hierarchical
/// model.
///
/// The bound also holds if tokens are shared between clusters, so that T has fractions. The reason: Λ is the
/// log evidence of a Dirichlet–multinomial with one more level, of weight A_j − Σ_v λ_v, that never occurs;
/// and this log evidence is convex in T. If the data themselves have fractional counts, there is no such
/// guarantee.
///
/// The spare weight A_j − Σ λ_v is the price of not knowing β. Only Λ and its gradient have it. Predictions
/// and draws use mean_weights(), E_q(even + common β_v), which sum to A_j. So the probability of the next
/// token, E_q(φ_v) = (even + common E β_v + T_v) / (A_j + T_j·), is exact and sums to 1 over the levels. It
/// is at least as large as with the weights λ, since E β ≥ exp(E log β).
class HierarchicalDirichlet {
 public:
  explicit HierarchicalDirichlet(std::vector<Index> levels, PowersOfTwo common)
      : HierarchicalDirichlet(std::move(levels), common, {0, -1}) {}
  HierarchicalDirichlet(std::vector<Index> levels, PowersOfTwo common, PowersOfTwo even);

  Vec weights(const SharePosterior& q) const;                 // λ for all levels
  Vec mean_weights(const SharePosterior& q) const;            // E_q(even + common β) for all levels
  double total(const SharePosterior& q, Index column) const;  // A_j, the total weight of column j

  /// The part of the prior in the bound: −KL(q(β) ‖ p(β)), plus the log prior weights of the chosen values of
  /// `even` and `common`.
  double log_density(const SharePosterior& q) const;
  double log_weight_of_points() const;  // log prior weights of `even` and `common`

  /// Counts t of all levels in K clusters, K × levels, with rows ld numbers apart. apart: for each cluster,
  /// the levels that do not have the common prior (its keywords, see KeywordTerms). The log evidence of the
  /// cluster then covers the other levels only, given that a token is one of them. If `apart` is empty, or
  /// null for a cluster, all levels have the common prior. Only data with one column can have levels apart.
  struct Counts {
    const double* t;
    Index k, ld;
    Pool* pool = nullptr;
    std::vector<const std::vector<int>*> apart;
  };

  /// The lower bound of the log evidence of all clusters: the sum of the bounds of single clusters for these
  /// counts, plus log_density(q).
  double bound(const SharePosterior& q, const Counts& counts) const;

  /// One round of coordinate ascent. Updates the parameters ω of q(β) by ω_v = ½ + common exp(E log β_v) Σ_k
  /// [ψ(λ_v + T_kv) − ψ(λ_v)], with λ_v the prior weight of level v and T_kv its count in cluster k. For
  /// whole counts this maximises a minorant of the bound. For other counts it has not been seen to lower the
  /// bound. If level v is apart in a cluster (see Counts), the term of this cluster is ψ(A_o + m) − ψ(A_o),
  /// with A_o the total weight of the other levels and m their total count.
  SharePosterior refreshed(const SharePosterior& q, const Counts& counts) const;

  /// Improves q by some rounds of refreshed(). If `steps` is a search, also by steps of `even` and `common`
  /// to neighbouring grid points. Returns q itself if the bound does not rise.
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
