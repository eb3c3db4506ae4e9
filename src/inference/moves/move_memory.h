// Remembers the moves that have failed, over all laps (passes over all batches) of a fit.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "inference/moves/failed_groups.h"

namespace bnpvi {

/// The identity of one cluster, and the moves that have failed for it.
struct ClusterHistory {
  std::uint64_t id = 0;         // identity, which is never reused
  std::uint64_t origin = 0;     // the number by which callers outside the fit know it
  double birth_failed_at = -1;  // size when a birth from it last failed; −1: none has failed
  Index birth_failures = 0;
  double delete_failed_at = -1;
};

/// Decides which moves are worth trying. After too many failures a move is tried again only if the size of a
/// cluster has changed (has_changed()). Functions identify clusters by their numbers in the state.
class MoveMemory {
 public:
  MoveMemory() = default;
  /// k: number of clusters. p: number of operations that one observation costs (cost_of_observation()). The
  /// larger p is, the fewer failures are allowed.
  MoveMemory(Index k, Index p) : p_(static_cast<double>(p)) { append(k); }

  Index size() const { return static_cast<Index>(clusters_.size()); }
  std::uint64_t id(Index j) const { return clusters_[j].id; }
  Index number_of(std::uint64_t id) const;  // its present number; −1: it was removed
  /// The number by which callers outside the fit know cluster j. Clusters of the start have 0 .. K − 1, by
  /// decreasing size. Clusters that births add have larger numbers. A joined cluster has the smallest number
  /// of its parts.
  std::uint64_t origin(Index j) const { return clusters_[j].origin; }
  /// Gives the clusters of the start the numbers by which callers outside the fit know them (origin()).
  /// order: these clusters, largest first; they get the numbers 0 .. K − 1.
  void rank(const std::vector<Index>& order);
  std::vector<std::uint64_t> ids(const std::vector<Index>& clusters) const;
  std::vector<Index> numbers_of(const std::vector<std::uint64_t>& ids) const;
  void append(Index m);
  void merge(Index a, Index b);
  void drop(Index j);
  void permute(const std::vector<Index>& order);

  void merge_failed(Index a, Index b, double size_a, double size_b);
  bool merge_worth_trying(Index a, Index b, double size_a, double size_b) const;

  /// Records a failed attempt to join two clusters and split them anew. sizes: those of the two clusters.
  /// barely_shared: the two share so few rows that there is no further attempt until a size changes.
  void resplit_failed(const std::vector<Index>& pair, const Vec& sizes, bool barely_shared);
  bool resplit_worth_trying(const std::vector<Index>& pair, const Vec& sizes) const;

  /// Records that the clusters of the group were fitted anew. There is no second attempt until a size has
  /// changed.
  void refit_tried(const std::vector<Index>& group, const Vec& sizes);
  bool refit_worth_trying(const std::vector<Index>& group, const Vec& sizes) const;

  /// Records a failed birth (proposal of new clusters) from cluster j. unsplit: all new clusters were merged
  /// with each other before the proposal was evaluated. Such a failure counts twice, as it is more likely to
  /// repeat than a rejected split.
  void birth_failed(Index j, double size, bool unsplit = false);
  void birth_succeeded(Index j);
  /// True when a birth (proposal of new clusters) from cluster j of this size should be tried. at_least:
  /// number of failures that are allowed even where a try is expensive.
  bool birth_worth_trying(Index j, double size, int at_least = 0) const;
  Index birth_failures(Index j) const { return clusters_[j].birth_failures; }
  /// Records a late birth: a birth from a cluster from which one has failed before at its present size. gain:
  /// what it added to the ELBO; 0 if it failed again.
  void late_birth_tried(double gain);
  /// The expected gain, in nats, of the next late birth of this fit (late_birth_tried()): an optimistic guess
  /// at first, later more and more the average of the recorded gains.
  double late_birth_gain() const;

  /// Records a rise of the ELBO after two clusters were joined or one was deleted. gain: the ELBO after
  /// several updates of q(z), minus the ELBO that was predicted before them.
  void merge_rose(double gain) { merge_rise_ = std::max(merge_rise_, gain); }
  /// The largest gain that merge_rose() has recorded in this fit, but at least the initial guess.
  double merge_rise() const { return merge_rise_; }

  void delete_failed(Index j, double size) { clusters_[j].delete_failed_at = size; }
  bool delete_worth_trying(Index j, double size) const;

  void write(Writer& out) const;
  static MoveMemory read(Reader& in);

 private:
  int allowed_failures(double size) const;
  std::vector<SizedCluster> identified(const std::vector<Index>& group, const Vec& sizes) const;

  double p_ = 1;
  std::vector<ClusterHistory> clusters_;
  FailedGroups failed_merges_, failed_resplits_, tried_refits_;
  std::uint64_t next_id_ = 0;
  double late_births_ = 0, late_birth_gains_ = 0;
  double merge_rise_ = 30;  // a guess (inst/design/search.md)
};

}  // namespace bnpvi
