// A small mixture fitted to the mass that a group of clusters has on some rows.
#pragma once
#include <limits>
#include <optional>

#include "foundation/random.h"
#include "inference/learn/state.h"
#include "mixtures/division.h"
#include "mixtures/mixture.h"

namespace bnpvi::mixtures {

/// Splits the mass that a target (one or several clusters) has on some rows among k new clusters. Everything
/// else is held fixed. New cluster j gets r'_nj = mass_n p_nj of row n. The proportions p_n come from a
/// restricted local step: an update of q(z) of these rows among the new clusters alone [Hughes 2016, eq.
/// 4.16]. It changes the entropy by Σ_n mass_n H(p_n).
///
/// `base` is the statistic of the target on all other rows. It becomes new cluster 0. There are three
/// exceptions: it is less than one observation, the number of clusters is fixed, or reseed() was called. Then
/// it is added to the new cluster that explains it best, which becomes cluster 0.
///
/// The new clusters are found from a sample of the rows (2^11 rows, or four for each feature if that is
/// more), weighted up to the mass of all rows. division() then divides every row among them.
class RestrictedFit {
 public:
  /// target: the clusters whose mass is divided. by_batch: for each batch some rows, with the mass that these
  /// clusters together have on each.
  RestrictedFit(const Problem& problem, const MixtureAlloc& alloc, Pool& pool, const State& state,
                const Target& target, const std::vector<MassOnRows>& by_batch, Stream& stream);

  /// Finds at most k clusters. Seeds are rows chosen by Bregman k-means++ with a random sharpness: how often
  /// a seed counts when its cluster is estimated. The first local steps use the same sharpness. Then
  /// restricted local steps, merges that raise the objective, and removal of clusters below one observation
  /// alternate until the number of clusters is stable. One cluster is left if the clusters of the seeds merge
  /// into one at once. steps: how a learned prior is adapted to the clusters in the first call of develop()
  /// or halve(); empty: not at all.
  void develop(Index k, std::optional<PriorSteps> steps, Stream& stream);

  /// Finds k clusters like develop(), but without merges; only clusters below one observation are removed.
  /// Whether k is right shows only after nearby rows have been reassigned, too. There are more updates of the
  /// rows' division than in develop(), since the borders of overlapping clusters converge slowly.
  void reseed(Index k, Stream& stream);

  /// Finds two clusters without seeds. Each starts with about half of every row (0.5 ± 0.1). Updates of the
  /// rows' division then enlarge the difference in the direction in which the rows vary most. This finds
  /// clusters that seeds miss, such as two that differ only in their covariances, in many dimensions.
  void halve(std::optional<PriorSteps> steps, Stream& stream);

  /// Turns forecasts off: the next calls of develop() and halve() make all local steps, even if a forecast
  /// says that one cluster will be left.
  void ignore_forecasts() { forecasts_ = false; }
  /// True when a forecast has ended one of these calls.
  bool foresaw() const { return foresaw_; }

  Index k() const { return k_; }

  /// The k clusters, among which every row can be divided.
  Division division() const { return {problem_, step()}; }

 private:
  struct Pair {
    Index a = 0, b = 0;  // a < b
    double gain = 0;
  };

  Vec sum_of_sample(const Vec& mass) const;  // Σ mass φ over the sample's rows, p numbers
  void load_sample();
  // Chooses at most k rows as seeds and starts a cluster from each. Returns false if there are fewer than two
  // seeds or, with may_collapse, if they will merge at once (collapses()).
  bool seed(Index k, bool base_of_its_own, Stream& stream, bool may_collapse);
  // True when forecasts are used in a try with these steps of the prior.
  bool foresees(std::optional<PriorSteps> steps) const;
  // Forecasts whether the clusters of the seeds will merge into one, if every row belongs to one cluster.
  // True if merges join them all, and each gains more than sharing rows could add to the objective. For
  // clusters of sizes N_a and N_b that are kept, sharing adds at most the entropy of the sizes, N log N − N_a
  // log N_a − N_b log N_b with N = N_a + N_b. If the result is false, the clusters are unchanged.
  bool collapses();
  // Forecasts, during the local steps after halve(), whether the two halves will be joined. With each step
  // the gain of joining them falls: at first faster and faster, later more and more slowly.
  class PartingHalves {
   public:
    // True if the fastest fall is over, and joining would still gain after the steps that are left.
    bool fall_short(double gain_of_joining, int calls_left);

   private:
    double last_ = std::numeric_limits<double>::infinity(), largest_fall_ = 0;
  };
  // Gain of joining all clusters, before the loss of entropy.
  double gain_of_joining_all() const;
  void place_base(const Vec& t, Index k, bool of_its_own);
  struct Limits {
    int rounds;          // number of local steps
    double least_moved;  // local steps end when a smaller fraction of the mass moves
  };
  static const Limits developing, reseeding, halving;

  // may_end_as_one: two halves that fall short (PartingHalves) are joined.
  void iterate(const Limits& limits, bool may_end_as_one = false);
  void prune();  // removes and merges clusters until no step gains
  // Learns the prior from the clusters of this object and all other clusters. Only for priors with an
  // occupied term (LearnedPrior): one for each cluster that has observations.
  void learn_prior(std::optional<PriorSteps> steps);
  void local_step(double sharpness = 1);
  bool drop_small();
  bool merge_pairs();
  std::vector<Pair>
  bounded_pairs();              // pairs whose gain, before the loss of entropy, may be positive; best first
  void join(Index a, Index b);  // cluster b joins cluster a < b
  Vec all_counts() const;       // counts of the other clusters, then of these k
  std::vector<Index> by_size(const Vec& counts) const;
  Vec log_weights() const;
  // The part of the allocation model in the ELBO for these counts. near: the start of the search for the
  // parameters of the weights, which is replaced by its end; if empty, the search is a full one. least:
  // see mixtures::allocation_value().
  double allocation_value(const Vec& counts, Vec& near, double least = -HUGE_VAL) const;
  // Where the search begins that follows the one with this end (near) for these counts, after cluster b has
  // joined cluster a < b.
  Vec joined_search(const Vec& near, const Vec& counts, Index a, Index b) const;
  double pair_entropy(Index a, Index b) const;
  RestrictedStep step() const;

  Problem problem_;  // the fit's problem with a separate copy of the prior, which may be learned
  const MixtureAlloc& alloc_;
  Pool& pool_;
  const Index p_;
  Index k_ = 0;
  bool has_learned_ = false, forecasts_ = true, foresaw_ = false;
  Sample copy_;        // data of the sample's rows
  MassOnRows sample_;  // mass on the sample's rows, numbered as in copy_
  LoadedRows loaded_;  // features of the sample's rows; empty if they are too many
  Vec others_;         // counts of all other clusters (as in MixtureAlloc)
  Vec others_t_;       // statistics of all other clusters, if a prior is learned
  Vec base_;           // statistic of the target on all other rows, p numbers
  Vec expected_;       // expecting_weights() of the target as a whole
  Vec current_;        // k × p: statistics for the local step, base included
  Vec share_;          // p_nj of the sample's rows, rows × k
  mutable Vec near_;   // end of the last search for log weights, clusters as in all_counts()
};

}  // namespace bnpvi::mixtures
