// Failures of moves, remembered from lap to lap.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "inference/moves/failed_groups.h"

namespace bnpvi {

/// Identity and failures of one cluster.
struct ClusterHistory {
  std::uint64_t id = 0;         // never reused
  std::uint64_t origin = 0;     // its rank by size when the fit began, or a later number (MoveMemory::origin)
  double birth_failed_at = -1;  // size when a birth from it last failed, −1: never
  Index birth_failures = 0;
  double delete_failed_at = -1;
};

/// Decides what is worth trying: what has failed too often is tried again only when the size of a cluster has
/// changed (has_changed). Clusters are numbered as in the state.
class MoveMemory {
 public:
  MoveMemory() = default;
  /// k clusters; p: operations that one observation costs (cost_of_observation), on which the
  /// number of failures that are allowed depends.
  MoveMemory(Index k, Index p) : p_(static_cast<double>(p)) { append(k); }

  Index size() const { return static_cast<Index>(clusters_.size()); }
  std::uint64_t id(Index j) const { return clusters_[j].id; }
  Index number_of(std::uint64_t id) const;  // its present number, −1 when it is gone
  /// What a cluster is known as to those outside the fit: that of a joined cluster is the least of its
  /// parts'. Clusters of the start have 0 .. K − 1, the larger the less, so that of two the larger one's
  /// stays, and newborn ones never replace them.
  std::uint64_t origin(Index j) const { return clusters_[j].origin; }
  /// order: the clusters of the start, largest first.
  void rank(const std::vector<Index>& order);
  std::vector<std::uint64_t> ids(const std::vector<Index>& clusters) const;
  std::vector<Index> numbers_of(const std::vector<std::uint64_t>& ids) const;
  void append(Index m);
  void merge(Index a, Index b);
  void drop(Index j);
  void permute(const std::vector<Index>& order);

  void merge_failed(Index a, Index b, double size_a, double size_b);
  bool merge_worth_trying(Index a, Index b, double size_a, double size_b) const;

  /// The pair was split anew in vain; sizes: of its clusters. barely_shared: it shares so few rows that this
  /// one failure counts as all that are allowed until a size changes.
  void resplit_failed(const std::vector<Index>& pair, const Vec& sizes, bool barely_shared);
  bool resplit_worth_trying(const std::vector<Index>& pair, const Vec& sizes) const;

  /// The group was fitted anew, which is done once until a size changes.
  void refit_tried(const std::vector<Index>& group, const Vec& sizes);
  bool refit_worth_trying(const std::vector<Index>& group, const Vec& sizes) const;

  /// unsplit: all newborns merged with each other before the proposal was judged; counts twice, as such a
  /// failure is likelier to repeat itself than a rejected split.
  void birth_failed(Index j, double size, bool unsplit = false);
  void birth_succeeded(Index j);
  /// at_least: failures allowed even where a try costs much.
  bool birth_worth_trying(Index j, double size, int at_least = 0) const;
  Index birth_failures(Index j) const { return clusters_[j].birth_failures; }
  /// A birth from a cluster that had failed since it changed gained so much, 0: it failed again.
  void late_birth_tried(double gain);
  /// What the next such birth of this fit is expected to gain: hopeful at first, then as the record says.
  double late_birth_gain() const;

  /// Rounds after two clusters were joined, or one was deleted, ended so much above the forecast.
  void merge_rose(double gain) { merge_rise_ = std::max(merge_rise_, gain); }
  /// The most in this fit, or what is hoped for at least.
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
