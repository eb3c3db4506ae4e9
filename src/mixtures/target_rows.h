// The rows of a batch that belong to the targets of a move.
#pragma once
#include "inference/alloc_model.h"

namespace bnpvi::mixtures {

/// Rows of a batch with the mass (weight of the row times responsibility) that may be moved on each.
struct MassOnRows {
  std::vector<Index> rows;
  Vec mass;
  bool all = true;  // no other row has mass of the target, so that its statistic on other rows is exactly 0

  double total() const;
};

/// Clusters whose mass is redistributed together: one, or several to be joined first.
using Target = std::vector<Index>;

/// Collects, for each target, the rows on which it has at least 1 % of the responsibility, and the change
/// of entropy when its clusters are joined.
class TargetRows final : public ResponsibilitySink {
 public:
  explicit TargetRows(const std::vector<Target>& targets) : targets_(targets) {}

  void begin(Index n_chunks) override;
  void visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock& block) override;

  MassOnRows rows_of(std::size_t target) const;
  double entropy_of_joining(std::size_t target) const;

 private:
  struct Found {
    MassOnRows where;
    double entropy = 0;
  };
  const std::vector<Target>& targets_;
  std::vector<std::vector<Found>> found_;  // by target and chunk
};

/// Change of Σ −w r log r when the responsibilities of some clusters are added up, for the rows of a block, w
/// being their weights; ≤ 0.
double joining_entropy(const Responsibilities& r, const Target& joined, const FeatureBlock& block);

}  // namespace bnpvi::mixtures
