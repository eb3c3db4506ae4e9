// Memory of failed moves, kept from lap to lap (a lap is a pass over all batches).
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "inference/moves/failed_groups.h"

namespace bnpvi {

/// Identity of one cluster and its failures.
struct ClusterHistory {
  std::uint64_t id = 0;         // identity, which is never reused
  std::uint64_t origin = 0;     // the number by which callers outside the fit know it
  double birth_failed_at = -1;  // size when a birth from it last failed; −1: none has failed
  Index birth_failures = 0;
  double delete_failed_at = -1;
};

/// Decides which moves are worth trying: after too many failures a move is tried again only when the size of
/// a cluster has changed (has_changed). Clusters have their numbers in the state.
class MoveMemory {
 public:
  MoveMemory() = default;
  /// k: number of clusters. p: number of operations that one observation costs (cost_of_observation), on
  /// which the number of allowed failures depends.
  MoveMemory(Index k, Index p) : p_(static_cast<double>(p)) { append(k); }

  Index size() const { return static_cast<Index>(clusters_.size()); }
  std::uint64_t id(Index j) const { return clusters_[j].id; }
  Index number_of(std::uint64_t id) const;  // its present number; −1: it was removed
  /// The number by which callers outside the fit know a cluster. The clusters of the start have 0 .. K − 1,
  /// in order of decreasing size, and newborn clusters have larger numbers. A joined cluster has the smallest
  /// number of its parts, so that of two clusters of the start the number of the larger one stays, and a
  /// newborn cluster never replaces one of the start.
  std::uint64_t origin(Index j) const { return clusters_[j].origin; }
  /// Sets the origins of the clusters of the start. order: these clusters, largest first.
  void rank(const std::vector<Index>& order);
  std::vector<std::uint64_t> ids(const std::vector<Index>& clusters) const;
  std::vector<Index> numbers_of(const std::vector<std::uint64_t>& ids) const;
  void append(Index m);
  void merge(Index a, Index b);
  void drop(Index j);
  void permute(const std::vector<Index>& order);

  void merge_failed(Index a, Index b, double size_a, double size_b);
  bool merge_worth_trying(Index a, Index b, double size_a, double size_b) const;

  /// Records that splitting the pair anew failed; sizes: those of its clusters. barely_shared: the two
  /// clusters share so few rows that this one failure uses up all allowed failures until a size changes.
  void resplit_failed(const std::vector<Index>& pair, const Vec& sizes, bool barely_shared);
  bool resplit_worth_trying(const std::vector<Index>& pair, const Vec& sizes) const;

  /// Records that the group was fitted anew, which is tried only once until a size changes.
  void refit_tried(const std::vector<Index>& group, const Vec& sizes);
  bool refit_worth_trying(const std::vector<Index>& group, const Vec& sizes) const;

  /// Records a failed birth from cluster j. unsplit: all newborn clusters were merged with each other before
  /// the proposal was evaluated; this counts twice, as such a failure is more likely to repeat than a
  /// rejected split.
  void birth_failed(Index j, double size, bool unsplit = false);
  void birth_succeeded(Index j);
  /// at_least: number of failures allowed even where a try is costly.
  bool birth_worth_trying(Index j, double size, int at_least = 0) const;
  Index birth_failures(Index j) const { return clusters_[j].birth_failures; }
  /// Records a late birth, that is, a birth from a cluster that has failed at its present size, and its gain;
  /// 0: it failed again.
  void late_birth_tried(double gain);
  /// Expected gain, in nats, of the next late birth of this fit: an optimistic guess at first, then
  /// increasingly the average of the recorded gains.
  double late_birth_gain() const;

  /// Records by how much the ELBO after rounds exceeded the prediction, when two clusters were joined or one
  /// was deleted.
  void merge_rose(double gain) { merge_rise_ = std::max(merge_rise_, gain); }
  /// The largest such excess in this fit, but at least a guess.
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
