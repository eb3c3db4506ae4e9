// A small mixture fitted to the mass that a cluster, or a group of clusters, has on some rows.
#pragma once
#include <optional>

#include "foundation/random.h"
#include "inference/learn/state.h"
#include "mixtures/mixture.h"
#include "mixtures/restricted_step.h"

namespace bnpvi::mixtures {

/// Splits the mass that a target has on some rows among k clusters, everything else held fixed: r'_nj =
/// mass_n p_nj with p_n the restricted local step [Hughes 2016, eq. 4.16], which changes the entropy by Σ_n
/// mass_n H(p_n). Cluster 0 keeps the target's remaining statistic (`base`, from its mass on other rows).
/// When that is less than one observation, or K is fixed, or after reseed(), the cluster that explains it
/// best gets it instead, which becomes cluster 0.
///
/// The clusters are developed on a sample of the rows (2^11, or four a feature if that is more), weighted up
/// to the mass of all; assign() then redistributes every row.
class RestrictedFit {
 public:
  /// target: its clusters, of which by_batch has the mass together.
  RestrictedFit(const Problem& problem, const MixtureAlloc& alloc, Pool& pool, const State& state,
                const Target& target, const std::vector<MassOnRows>& by_batch, Stream& stream);

  /// Seeds at most k clusters by Bregman k-means++ of a sharpness that is drawn, which the first local steps
  /// share; then alternates restricted local steps, merges that raise the objective and removal of clusters
  /// below one observation, until their number stays. One cluster is left when the seeds alone fall together.
  /// steps: how far a prior that is learned follows, in the first of develop() and halve(); empty: not at
  /// all.
  void develop(Index k, std::optional<PriorSteps> steps, Stream& stream);

  /// The same without merges, so that k are left but for those below one observation: whether one more is
  /// right shows only when the rows around have moved too. More local steps, as the borders of clusters that
  /// overlap settle slowly.
  void reseed(Index k, Stream& stream);

  /// Starts two clusters from shares of every row that are nearly even (0.5 ± 0.1), and lets local steps
  /// enlarge the difference in which the rows vary most. Finds clusters that seeds of single rows miss, such
  /// as two covariances in many dimensions.
  void halve(std::optional<PriorSteps> steps, Stream& stream);

  Index k() const { return k_; }

  /// The final restricted local step on the rows of every batch; shares receive p (rows × k) of each unless
  /// null.
  std::vector<Redistributed> assign(const std::vector<MassOnRows>& by_batch,
                                    std::vector<Vec>* shares = nullptr) const;

 private:
  struct Pair {
    Index a = 0, b = 0;  // a < b
    double gain = 0;
  };

  Vec sum_of_sample(const Vec& mass) const;  // Σ mass φ, p
  void load_sample();
  // False: fewer than two clusters, or clusters that fall together at once, where they may.
  bool seed(Index k, bool base_of_its_own, Stream& stream, bool may_collapse);
  // A forecast: the seeds, each row with one of them, fall together by merges that gain more than log 2 a
  // row, which is the most that sharing rows between two clusters adds to their objective. Leaves them as
  // they are unless they do.
  bool collapses();
  void place_base(const Vec& t, Index k, bool of_its_own);
  struct Limits {
    int rounds;          // of local steps
    double least_moved;  // share of the mass; local steps end when less of it moves
  };
  static const Limits developing, reseeding, halving;

  void iterate(const Limits& limits);
  void prune();  // removes and merges clusters until that gains nothing
  // From the clusters here and all others, where that has a posterior.
  void learn_prior(std::optional<PriorSteps> steps);
  void local_step(double sharpness = 1);
  bool drop_small();
  bool merge_pairs();
  std::vector<Pair>
  bounded_pairs();  // pairs whose gain before the loss of entropy, an upper bound, is positive; best first
  void join(Index a, Index b);  // cluster b joins a < b
  Vec all_counts() const;  // of the others, then of these
  std::vector<Index> by_size(const Vec& counts) const;
  Vec log_weights() const;
  // near: as near_, of these clusters.
  double allocation_value(const Vec& counts, const Vec& near) const;
  double pair_entropy(Index a, Index b) const;
  RestrictedStep step() const;

  Problem problem_;  // with a prior of its own
  const MixtureAlloc& alloc_;
  Pool& pool_;
  const Index p_;
  Index k_ = 0;
  bool has_learned_ = false;
  Sample copy_;        // data of the sample's rows
  MassOnRows sample_;  // numbered as in the copy
  LoadedRows loaded_;  // the sample's rows, unless they are too many
  Vec others_;         // counts of all other clusters (MixtureAlloc)
  Vec others_t_;       // their statistics, where a prior is learned
  Vec base_;           // p
  Vec expected_;       // expecting_weights() of the target as a whole
  Vec current_;        // k × p: statistics at which the local step is taken, base included
  Vec share_;          // p_nj of the sample, rows × k
  mutable Vec near_;   // where the search for log weights ended last, by cluster as all_counts() has them
};

}  // namespace bnpvi::mixtures
