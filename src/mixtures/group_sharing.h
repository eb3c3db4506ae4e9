// How the clusters of groups share rows with each other and with those around.
#pragma once
#include "mixtures/target_rows.h"

namespace bnpvi::mixtures {

/// Made of what a lap has seen, and numbered as its clusters were.
class GroupSharing {
 public:
  /// shared: of pairs (SeenRows::shared); loss: evidence_of_merging().
  GroupSharing(Vec shared, Vec sizes, Vec loss)
      : k_(static_cast<Index>(sizes.size())),
        shared_(std::move(shared)),
        sizes_(std::move(sizes)),
        loss_(std::move(loss)) {}

  /// The few clusters nearest to each member that share rows with the group.
  Target around(const Target& group) const;
  /// True when every cluster of the group shares rows with the others, or a single one with some around.
  bool overlaps(const Target& group, const Target& around) const;
  /// The entropy that the clusters of the group share with each other and with all others, in nats.
  double in_all(const Target& group) const;

 private:
  double with(const Target& group, Index b) const;  // of a cluster and the others of a group

  Index k_;
  Vec shared_, sizes_, loss_;
};

}  // namespace bnpvi::mixtures
