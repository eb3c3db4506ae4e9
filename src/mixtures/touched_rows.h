// The rows of a batch that a delete would redistribute.
#pragma once
#include "inference/alloc_model.h"

namespace bnpvi::mixtures {

/// The rows on which the target has any mass, with their responsibilities for all clusters.
struct TouchedRows {
  std::vector<Index> rows;
  std::vector<Index> offset{0};  // entries of row i: offset[i] .. offset[i+1]-1
  std::vector<int> cluster;
  Vec value;

  void append(const TouchedRows& other);
  double get(Index row, Index j) const;  // responsibility of cluster j for the row-th of these rows
};

/// Collects the touched rows of each target during a visit.
class TouchedSink final : public ResponsibilitySink {
 public:
  explicit TouchedSink(const std::vector<Index>& targets) : targets_(targets) {}

  void begin(Index n_chunks) override;
  void visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock& block) override;

  TouchedRows rows_of(std::size_t target) const;

 private:
  const std::vector<Index>& targets_;
  std::vector<std::vector<TouchedRows>> found_;  // by target and chunk
};

}  // namespace bnpvi::mixtures
