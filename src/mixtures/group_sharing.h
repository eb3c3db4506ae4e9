// Measures how much the clusters of a group share rows, with one another and with clusters nearby.
#pragma once
#include "mixtures/target_rows.h"

namespace bnpvi::mixtures {

/// Judges how much clusters overlap, by the responsibilities seen during a lap (a pass over all batches).
/// Clusters are identified by the numbers that they had in that lap.
class GroupSharing {
 public:
  /// shared: for each pair of clusters the entropy that it would lose by joining (SeenRows::shared). loss:
  /// evidence_of_merging() of each pair. Both are K × K. sizes: of the K clusters.
  GroupSharing(Vec shared, Vec sizes, Vec loss)
      : k_(static_cast<Index>(sizes.size())),
        shared_(std::move(shared)),
        sizes_(std::move(sizes)),
        loss_(std::move(loss)) {}

  /// The clusters outside the group that share rows with it, chosen among the few clusters nearest to each
  /// member of the group.
  Target around(const Target& group) const;
  /// True if every cluster of the group shares enough rows with the others of the group. If the group has one
  /// cluster: true if it shares enough rows with one of the clusters `around`.
  bool overlaps(const Target& group, const Target& around) const;
  /// The entropy of q(z), in nats, that is lost if all clusters of the group are joined with each other and
  /// with all other clusters.
  double in_all(const Target& group) const;

 private:
  double with(const Target& group, Index b) const;  // entropy shared by cluster b and the others of a group

  Index k_;
  Vec shared_, sizes_, loss_;
};

}  // namespace bnpvi::mixtures
