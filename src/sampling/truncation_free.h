// Truncation-free learning in every family: clusters of what comes in batches [Wang & Blei 2012].
#pragma once
#include "foundation/pool.h"
#include "foundation/random.h"
#include "inference/learn/running_state.h"
#include "observations/obs_model.h"

namespace bnpvi {

struct TruncationFreeOptions {
  Index sweeps = 5;           // Gibbs sweeps of a batch, the one that places its observations included
  Index most_clusters = 500;  // at the cap no observation begins a cluster
  Index renewals = 5;         // sweeps of the latest documents when topics are maintained; for rows none
  bool merge = true, split = true;
  bool fades = false;  // whether observations weigh less as others come: clusters shrink by themselves then
};

/// recent: how many of the latest observations are kept, by which overlaps and splits of clusters are judged.
/// Clusters are maintained once a tenth of all observations came since, within these limits. All are guesses.
struct StreamLimits {
  Index recent;
  double fewest_between_tending, most_between_tending;

  /// For rows: `recent` is limited by the memory of their features.
  static StreamLimits of_rows(const ObsModel& obs);
};

/// To split a cluster, sweeps_of_split sweeps divide its latest rows or parts of documents: of at least
/// fewest_to_split the latest most_to_split. Guesses; ten sweeps found little more, at three times the time.
constexpr Index fewest_to_split = 8, most_to_split = 2000, sweeps_of_split = 4;

/// What does not depend on how units are drawn: clusters, their identities, and when they are maintained.
class RunningClusterLearner {
 public:
  virtual ~RunningClusterLearner() = default;

  /// Maintains the clusters: improve(), then they are ordered by size and marked as lasting.
  void tend();
  bool due() const;
  const RunningState& running() const { return running_; }

  /// True once an observation was kept from beginning a cluster by most_clusters.
  bool capped() const { return capped_; }
  const std::vector<Departure>& departed() const { return departed_; }

 protected:
  RunningClusterLearner(const ObsModel& obs, const TruncationFreeOptions& options, std::uint64_t seed,
                        RunningState& running, Pool& pool, const StreamLimits& limits);

  /// Splits, merges and removes clusters, in the order that suits the family.
  virtual void improve() = 0;
  /// Updates the prior, given the clusters ordered by size.
  virtual void learn_prior() {}
  /// True if something is left of cluster j when all statistics are multiplied by `keep`.
  virtual bool is_left(Index j, double keep) const { return keep * size(j) > 0; }

  double size(Index j) const { return running_.t[static_cast<std::size_t>(j * p_)]; }
  double total_size() const;
  /// How many observations each of the n latest ones stands for; 0 of none.
  double scale_of_latest(Index n) const { return n > 0 ? total_size() / static_cast<double>(n) : 0; }
  Stream stream(std::uint64_t use) const { return Stream(seed_, Purpose::stream, running_.batches, use); }

  void remove_spent();
  /// Cluster j becomes several of n_a observations, with statistics t (parts × p): the largest one keeps its
  /// number and identity, the others come behind all clusters. Returns their numbers.
  std::vector<Index> divide(Index j, const Vec& t, const Vec& n);
  /// Λ(T_a + T_b) − Λ(T_a) − Λ(T_b), K × K (evidence_of_merging()).
  Vec evidence_of_pairs() const;
  /// Adds the smaller cluster to the larger one; the smaller keeps its number until it is removed. On return
  /// a is the larger one.
  void join(Index& a, Index& b);

  const ObsModel& obs_;
  const TruncationFreeOptions options_;
  const std::uint64_t seed_;
  Pool& pool_;
  const Index p_;
  const StreamLimits limits_;
  bool capped_ = false;

  // The clusters that remain after fading, and their statistics.
  struct Faded {
    std::vector<Index> kept;
    Vec t;
  };
  Faded faded(double keep) const;
  void take_over(const Faded& earlier, Vec t, const std::vector<int>& label, double new_units);
  void close_batch(std::size_t observations);

 private:
  RunningState& running_;
  std::vector<Departure> departed_;
};

/// The observations of a batch are labelled by a collapsed Gibbs sampler whose prior is the running
/// posterior: with statistics T_k of earlier observations and B_k of the batch,
///   p(z_B | x) ∝ p(z_B | earlier ones) Π_k exp[Λ(T_k + B_k) − Λ(T_k)].
/// An observation that fits no cluster begins one. A single batch of all data, with no clusters before, is a
/// chain of the exact posterior. A family says how the units of a Batch are drawn, and what it remembers.
///
/// (Wang and Blei order the clusters and keep q of their sticks; here weights are integrated out, or drawn
/// without sticks, which has no order, and predicted as well.)
template <class Batch>
class TruncationFree : public RunningClusterLearner {
 public:
  /// T ← keep T + B. fresh: units that were not seen before. Clusters are ordered by size. All changes are
  /// made after the last check for an interrupt.
  void learn(const Batch& batch, double keep, bool fresh) {
    const Faded earlier = faded(keep);
    std::vector<int> label;
    Vec t = draw(batch, earlier, keep, label);
    take_over(earlier, std::move(t), label, fresh ? static_cast<double>(units(batch)) : 0);
    remember(batch, label, keep);
    close_batch(label.size());
  }

 protected:
  using RunningClusterLearner::RunningClusterLearner;

  /// Labels the observations of the batch, given what is left of earlier ones. Returns the statistics of all.
  virtual Vec draw(const Batch& batch, const Faded& earlier, double keep, std::vector<int>& label) = 0;
  virtual Index units(const Batch& batch) const = 0;
  /// Stores what the family keeps of the batch beside statistics.
  virtual void remember(const Batch& batch, const std::vector<int>& label, double keep) = 0;
};

}  // namespace bnpvi
