// The prior that clusters of counts have in common, with a posterior of its hyperparameters.
#pragma once
#include <optional>
#include <vector>

#include "foundation/pool.h"
#include "foundation/types.h"
#include "observations/capabilities.h"

namespace bnpvi {

/// Whole powers of two, 2^low ... 2^high: values of equal prior weight.
struct PowersOfTwo {
  int low, high;
};

struct SharePosterior;

/// q as a fit has stored it; throws std::invalid_argument where its numbers are none of a posterior.
SharePosterior checked(SharePosterior q);

/// q(H), the posterior of the hyperparameters.
struct SharePosterior {
  double even = 0, common = 0;  // points
  Vec omega;                    // ω of each level of the first column, then the second, ...
};

/// The hierarchical model of proportions φ_kj of the levels of column j in cluster k, V_j of them:
///   φ_kj | β_j ~ Dir(even + common β_j);   β_j ~ Dir(½, ..., ½);
///   even and common: a power of two from their grids, the same for all columns; even may be known to be 0.
/// Terms of text are the levels of one column.
///
/// q(β_j) = Dir(ω_j), and q(φ | β) is its conditional. Given β a cluster with counts T has the evidence of a
/// Dirichlet–multinomial, in which log Γ(λ + T) − log Γ(λ) is convex in log β for whole counts. So with
/// λ = even + common exp(E log β) and A_j = V_j even + common
///   Λ(T) = Σ_j {log Γ(A_j) − log Γ(A_j + T_j·) + Σ_v [log Γ(λ_v + T_v) − log Γ(λ_v)]}
/// is at most its mean, and Σ_k Λ(T_k) + log_density(q) is a lower bound of the logarithm of the evidence of
/// all clusters in the hierarchical model, for counts of tokens that are shared between clusters, too: Λ is
/// the log evidence of a Dirichlet–multinomial with a level more, of weight A_j − Σ_v λ_v and never seen,
/// which is convex in T. It is none where data themselves have fractions of counts.
///
/// The spare weight A_j − Σ λ_v is what not knowing β costs. It enters Λ and its gradient alone. What
/// predicts or draws takes mean_weights(), E_q(even + common β), which sum to A_j: the probability of the
/// next token, E_q(φ_v) = (even + common E β_v + T_v) / (A_j + T_j·), is then exact and sums to 1 over the
/// levels. It is at least as large as Λ's share, since E β ≥ exp(E log β).
class HierarchicalDirichlet {
 public:
  explicit HierarchicalDirichlet(std::vector<Index> levels, PowersOfTwo common)
      : HierarchicalDirichlet(std::move(levels), common, {0, -1}) {}
  HierarchicalDirichlet(std::vector<Index> levels, PowersOfTwo common, PowersOfTwo even);

  Vec weights(const SharePosterior& q) const;                 // λ, of all levels
  Vec mean_weights(const SharePosterior& q) const;            // of all levels
  double total(const SharePosterior& q, Index column) const;  // A_j

  /// −KL(q(β) ‖ p(β)), and the log weights of even and common on their grids.
  double log_density(const SharePosterior& q) const;
  double log_weight_of_points() const;  // the second part

  /// K clusters with counts of all levels, rows `ld` apart. apart: of each cluster the levels that are apart
  /// from the prior in common, so that Λ is that of the others given that a count is one of these
  /// (KeywordTerms); null or no entry: none. Only where there is one column.
  struct Counts {
    const double* t;
    Index k, ld;
    Pool* pool = nullptr;
    std::vector<const std::vector<int>*> apart;
  };

  /// Σ_k Λ(T_k) + log_density(q).
  double bound(const SharePosterior& q, const Counts& counts) const;

  /// ω_v = ½ + common exp(E log β_v) Σ_k [ψ(λ_v + T_kv) − ψ(λ_v)], which maximises a minorant of the bound
  /// for whole counts, and has not been seen to lower it for others. A cluster in which v is apart has ψ(A_o
  /// + m) − ψ(A_o) in the sum instead, of the total A_o of the other levels and their m counts.
  SharePosterior refreshed(const SharePosterior& q, const Counts& counts) const;

  /// Some rounds of refreshed() and, in a search, steps of even and common to their neighbours on the grids;
  /// q itself where the bound does not rise.
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
  Index levels_ = 0;  // of all columns
  PowersOfTwo common_, even_;
};

}  // namespace bnpvi
