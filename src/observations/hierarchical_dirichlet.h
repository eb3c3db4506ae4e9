// A hierarchical prior of the proportions of levels (or terms) in clusters, with a posterior of its
// hyperparameters.
#pragma once
#include <optional>
#include <vector>

#include "foundation/pool.h"
#include "foundation/types.h"
#include "observations/capabilities.h"

namespace bnpvi {

/// A grid of candidate values of a hyperparameter: the powers 2^low, ..., 2^high, which have equal prior
/// weights.
struct PowersOfTwo {
  int low, high;
};

struct SharePosterior;

/// Checks a posterior of hyperparameters that was stored in a fit, and returns it; throws
/// std::invalid_argument if it is not valid.
SharePosterior checked(SharePosterior q);

/// The posterior q(H) of the hyperparameters of a HierarchicalDirichlet: its total weights `even` and
/// `common` and the shared proportions β.
struct SharePosterior {
  double even = 0, common = 0;  // the two powers of two of the prior; single values, without a distribution
  Vec omega;                    // ω, Dirichlet parameters of q(β), for all levels, column by column
};

/// The hierarchical model of proportions φ_kj of the V_j levels of column j in cluster k:
///   φ_kj | β_j ~ Dir(even + common β_j);   β_j ~ Dir(½, ..., ½);
///   even and common: each a power of two from its grid, the same for all columns; even may be known to be 0.
/// In text, terms are the levels of a single column.
///
/// The posterior is q(β_j) = Dir(ω_j), with φ given β as in the exact posterior. A cluster with counts T has,
/// given β, the evidence of a Dirichlet–multinomial, in which log Γ(λ + T) − log Γ(λ) is convex in log β for
/// whole counts. So with λ = even + common exp(E log β) and A_j = V_j even + common
///   Λ(T) = Σ_j {log Γ(A_j) − log Γ(A_j + T_j·) + Σ_v [log Γ(λ_v + T_v) − log Γ(λ_v)]}
/// is at most its mean under q, and Σ_k Λ(T_k) + log_density(q) is a lower bound of the log evidence of all
/// clusters in the hierarchical model. The bound also holds for counts of tokens that are shared between
/// clusters: Λ is the log evidence of a Dirichlet–multinomial with one more level, of weight A_j − Σ_v λ_v
/// and never observed, and this evidence is convex in T. There is no such guarantee where the data themselves
/// have fractional counts.
///
/// The spare weight A_j − Σ λ_v is the price of not knowing β. It enters only Λ and its gradient. Predictions
/// and draws use mean_weights(), E_q(even + common β_v), which sum to A_j. The probability of the next token,
/// E_q(φ_v) = (even + common E β_v + T_v) / (A_j + T_j·), is then exact and sums to 1 over the levels. It is
/// at least as large as with the weights λ of Λ, since E β ≥ exp(E log β).
class HierarchicalDirichlet {
 public:
  explicit HierarchicalDirichlet(std::vector<Index> levels, PowersOfTwo common)
      : HierarchicalDirichlet(std::move(levels), common, {0, -1}) {}
  HierarchicalDirichlet(std::vector<Index> levels, PowersOfTwo common, PowersOfTwo even);

  Vec weights(const SharePosterior& q) const;                 // λ for all levels
  Vec mean_weights(const SharePosterior& q) const;            // E_q(even + common β) for all levels
  double total(const SharePosterior& q, Index column) const;  // A_j, the total weight of column j

  /// The log density of the prior in the bound: −KL(q(β) ‖ p(β)), plus the log prior weights of the chosen
  /// values of `even` and `common`.
  double log_density(const SharePosterior& q) const;
  double log_weight_of_points() const;  // log prior weights of `even` and `common`

  /// Counts of all levels in K clusters, K × levels, whose rows are `ld` numbers apart. apart: for each
  /// cluster, the levels that do not have the common prior (its keywords, see KeywordTerms); the log evidence
  /// of the cluster then covers only the other levels, given that a token is one of them. If `apart` is
  /// empty, or null for a cluster, all levels have the common prior. Levels apart are allowed only with one
  /// column.
  struct Counts {
    const double* t;
    Index k, ld;
    Pool* pool = nullptr;
    std::vector<const std::vector<int>*> apart;
  };

  /// The lower bound of the log evidence of all clusters: the sum of the bounds of single clusters for these
  /// counts, plus log_density(q).
  double bound(const SharePosterior& q, const Counts& counts) const;

  /// One round of coordinate ascent: updates the parameters ω of the Dirichlet distribution q(β) by ω_v = ½ +
  /// common exp(E log β_v) Σ_k [ψ(λ_v + T_kv) − ψ(λ_v)], with λ_v the prior weight of level v and T_kv its
  /// count in cluster k. For whole counts this maximises a minorant of the bound; for other counts it has not
  /// been seen to lower the bound. For a cluster in which level v is apart (see Counts), the term in the sum
  /// is ψ(A_o + m) − ψ(A_o) instead, with A_o the total weight of the other levels and m their counts.
  SharePosterior refreshed(const SharePosterior& q, const Counts& counts) const;

  /// Improves q by some rounds of refreshed() and, if `steps` is a search, by steps of `even` and `common` to
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
