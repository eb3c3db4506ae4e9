// A small mixture fitted to the mass that one cluster has on some rows.
#pragma once
#include "foundation/random.h"
#include "inference/state.h"
#include "mixtures/mixture.h"
#include "mixtures/target_rows.h"

namespace bnpvi::mixtures {

/// What a restricted local step did to the rows of one batch.
struct Redistributed {
  Vec left;            // p: statistic that left the target
  Vec arrived;         // k × p: statistic that each cluster received
  double entropy = 0;  // change of the entropy of q(z), exactly
};

/// Splits the mass that a target cluster has on some rows among k clusters, everything else held fixed:
/// r'_nj = mass_n p_nj with p_n the restricted local step [Hughes 2016, eq. 4.16], which changes the
/// entropy by Σ_n mass_n H(p_n). Cluster 0 keeps the target's remaining statistic (`base`: its mass on
/// other rows) unless that is less than one observation, when the cluster that explains it best takes it
/// over and becomes cluster 0.
///
/// The clusters are developed on a sample of the rows (2^11, or four a feature if that is more), weighted up
/// to the mass of all; assign() then settles every row.
class RestrictedFit {
 public:
  RestrictedFit(const Problem& problem, const MixtureAlloc& alloc, Pool& pool, const State& state,
                Index target, const std::vector<MassOnRows>& by_batch, Stream& stream);

  /// Seeds at most k clusters by Bregman k-means++, then alternates restricted local steps, merges that
  /// raise the objective and removal of clusters below one observation, until their number settles.
  void develop(Index k, Stream& stream);

  /// Two clusters from a nearly even share of every row: local steps let the direction grow in which the rows
  /// differ most. Finds what seeds of single rows cannot tell apart, such as covariances in many dimensions.
  void halve(Stream& stream);

  Index k() const { return k_; }

  /// The final restricted local step on all rows of one batch, whose data are given; share, if any, receives
  /// p (rows × k).
  Redistributed assign(const Dataset& data, const MassOnRows& where, Vec* share = nullptr) const;

 private:
  struct Pair {
    Index a = 0, b = 0;  // a < b
    double gain = 0;
  };

  void take_sample(const std::vector<MassOnRows>& by_batch, Stream& stream);
  Vec sum_of(const Dataset& data, const std::vector<Index>& rows, const Vec& mass) const;  // Σ mass φ, p
  void load_sample();
  void place_base(const Vec& t, Index k);
  void settle(int rounds);  // local steps, at most this many, until few of the shares move
  void prune();             // removes and merges clusters until that gains nothing
  void local_step();
  bool drop_small();
  bool merge_pairs();
  std::vector<Pair>
  bounded_pairs();              // gain without the loss of entropy, an upper bound; positive ones, best first
  void join(Index a, Index b);  // cluster b joins a < b
  Vec log_weights() const;
  double allocation_value() const;
  double pair_entropy(Index a, Index b) const;
  /// settling: only `arrived` and the share are asked for.
  Redistributed step(const Dataset& data, const MassOnRows& where, Vec* share, bool settling) const;

  const Problem& problem_;
  const MixtureAlloc& alloc_;
  Pool& pool_;
  const Index p_;
  Index k_ = 0;
  Sample copy_;                                    // of the sample's rows
  MassOnRows sample_;                              // numbered as in the copy
  std::vector<std::vector<FeatureBlock>> loaded_;  // the sample's rows by chunk, unless they are too many
  Vec others_;                                     // sizes of all other clusters
  Vec base_;                                       // p
  Vec current_;  // k × p: statistics at which the local step is taken, base included
  Vec share_;    // p_nj of the sample, rows × k
};

}  // namespace bnpvi::mixtures
