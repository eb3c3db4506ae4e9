// The rows of a batch that belong to the targets of a move.
#pragma once
#include "inference/alloc_model.h"

namespace bnpvi::mixtures {

/// Rows of a batch with the mass that may be moved on each.
struct MassOnRows {
  std::vector<Index> rows;
  Vec mass;
  bool all = true;  // no other row has mass of the target, so that its statistic on other rows is exactly 0

  double total() const;
};

/// A target of a birth: one cluster, or a pair to be joined first.
struct BirthTarget {
  Index a, b;  // b = −1: one cluster
};

/// Collects, for each target, the rows on which it has at least 1 % of the responsibility, and the change
/// of entropy when its two clusters are joined.
class TargetRows final : public ResponsibilitySink {
 public:
  explicit TargetRows(const std::vector<BirthTarget>& targets) : targets_(targets) {}

  void begin(Index n_chunks) override;
  void visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock& block) override;

  MassOnRows rows_of(std::size_t target) const;
  double entropy_of_joining(std::size_t target) const;

 private:
  struct Found {
    MassOnRows where;
    double entropy = 0;
  };
  const std::vector<BirthTarget>& targets_;
  std::vector<std::vector<Found>> found_;  // by target and chunk
};

/// Change of Σ −r log r when r_a and r_b are added up, for the rows of a block; ≤ 0.
double joining_entropy(const Responsibilities& r, Index a, Index b);

}  // namespace bnpvi::mixtures
