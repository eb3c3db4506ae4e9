// Truncation-free learning: clusters of observations that arrive in batches, without a limit on their number
// [Wang & Blei 2012]. Shared by all families of models.
#pragma once
#include "foundation/pool.h"
#include "foundation/random.h"
#include "inference/learn/running_state.h"
#include "observations/obs_model.h"

namespace bnpvi {

struct TruncationFreeOptions {
  Index sweeps = 5;  // Gibbs sweeps over a batch, including the one that gives first labels
  /// The largest number of clusters; when it is reached, no observation begins a new cluster.
  Index most_clusters = 500;
  /// For topics: number of Gibbs sweeps that draw the topics of the latest documents anew whenever topics are
  /// maintained (split, merged, removed). Not used for rows.
  Index renewals = 5;
  bool merge = true, split = true;
  /// Whether earlier observations lose weight as new ones arrive; clusters without new observations then
  /// shrink.
  bool fades = false;
};

/// Sizes that determine when and how clusters are maintained (split, merged, removed). recent: how many of
/// the latest observations are stored; overlaps and splits of clusters are judged from these. Clusters are
/// maintained when a tenth of all observations have arrived since the last time, but at least
/// fewest_between_tending and at most most_between_tending. All these numbers are guesses.
struct StreamLimits {
  Index recent;
  double fewest_between_tending, most_between_tending;

  /// Limits for models of rows. `recent` is smaller where the features of a row take more memory.
  static StreamLimits of_rows(const ObsModel& obs);
};

/// How a cluster is split: between fewest_to_split and most_to_split of its latest rows or parts of documents
/// are divided in sweeps_of_split Gibbs sweeps. The numbers are guesses. Ten sweeps found little more, at
/// three times the time.
constexpr Index fewest_to_split = 8, most_to_split = 2000, sweeps_of_split = 4;

/// The part of truncation-free learning that is the same for rows and groups: the list of clusters, their
/// identities, and when they are maintained (split, merged, removed).
class RunningClusterLearner {
 public:
  virtual ~RunningClusterLearner() = default;

  /// Maintains the clusters: calls improve(), which splits, merges and removes clusters, orders them by size
  /// and marks them as lasting.
  void tend();
  bool due() const;
  const RunningState& running() const { return running_; }

  /// Whether the limit most_clusters has at some time kept an observation from beginning a cluster.
  bool capped() const { return capped_; }
  const std::vector<Departure>& departed() const { return departed_; }

 protected:
  RunningClusterLearner(const ObsModel& obs, const TruncationFreeOptions& options, std::uint64_t seed,
                        RunningState& running, Pool& pool, const StreamLimits& limits);

  /// Splits, merges and removes clusters, in an order that suits the family of models.
  virtual void improve() = 0;
  /// Updates the prior of the clusters' parameters, given the clusters ordered by size; by default nothing is
  /// learned.
  virtual void learn_prior() {}
  /// Whether cluster j still contains data when all statistics are multiplied by `keep`, which may be 0.
  virtual bool is_left(Index j, double keep) const { return keep * size(j) > 0; }

  double size(Index j) const { return running_.t[static_cast<std::size_t>(j * p_)]; }
  double total_size() const;
  /// The number of observations that each of the n latest ones represents if they are taken as a sample of
  /// all; 0 if n is 0.
  double scale_of_latest(Index n) const { return n > 0 ? total_size() / static_cast<double>(n) : 0; }
  Stream stream(std::uint64_t use) const { return Stream(seed_, Purpose::stream, running_.batches, use); }

  void remove_spent();
  /// Divides cluster j into parts with n_a observations and the statistics t (parts × p). The largest part
  /// keeps the number and identity of j; the others are added after all clusters. Returns the numbers of the
  /// parts.
  std::vector<Index> divide(Index j, const Vec& t, const Vec& n);
  /// The gain in log evidence from merging clusters a and b, Λ(T_a + T_b) − Λ(T_a) − Λ(T_b), for all pairs, K
  /// × K (evidence_of_merging()).
  Vec evidence_of_pairs() const;
  /// Adds the smaller of two clusters to the larger one. On return a is the larger cluster. b keeps its
  /// number until it is removed.
  void join(Index& a, Index& b);

  const ObsModel& obs_;
  const TruncationFreeOptions options_;
  const std::uint64_t seed_;
  Pool& pool_;
  const Index p_;
  const StreamLimits limits_;
  bool capped_ = false;

  // The clusters that remain after the earlier statistics were multiplied by a factor (fading): their
  // numbers, and their statistics.
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

/// Learns from batches. A collapsed Gibbs sampler labels the observations of each batch; its prior is the
/// posterior so far:
///   p(z_B | x) ∝ p(z_B | earlier labels) Π_k exp[Λ(T_k + B_k) − Λ(T_k)].
/// z_B: labels of the batch; T_k, B_k: statistics of cluster k from earlier observations and from the batch;
/// Λ: log evidence of a cluster. An observation that fits no cluster begins a new one. With a single batch of
/// all data and no earlier clusters, the sweeps are a Markov chain whose stationary distribution is the exact
/// posterior. Each family of models defines how the units of a Batch are drawn, and what is stored of them.
///
/// (Wang and Blei order the clusters and store q of their sticks. Here weights are integrated out, or drawn
/// without sticks. This needs no order, and predicted equally well.)
template <class Batch>
class TruncationFree : public RunningClusterLearner {
 public:
  /// Learns from a batch: multiplies the earlier statistics by `keep`, adds those of the batch, and orders
  /// the clusters by size. fresh: the units have not been seen before. All changes are made after the last
  /// check for an interrupt.
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

  /// Draws labels of the observations of the batch, given the faded statistics of earlier ones. Returns the
  /// statistics of all observations together.
  virtual Vec draw(const Batch& batch, const Faded& earlier, double keep, std::vector<int>& label) = 0;
  virtual Index units(const Batch& batch) const = 0;
  /// Stores what the family of models needs of the batch besides statistics, such as its latest observations.
  virtual void remember(const Batch& batch, const std::vector<int>& label, double keep) = 0;
};

}  // namespace bnpvi
