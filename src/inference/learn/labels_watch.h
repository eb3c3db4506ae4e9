// The most probable cluster of every row.
#pragma once
#include "inference/learn/alloc_model.h"

namespace bnpvi {

/// Collects the most probable cluster of every row during a visit.
class LabelsWatch final : public Watch {
 public:
  void begin(Index n_chunks) override { found_.assign(static_cast<std::size_t>(n_chunks), {}); }
  void visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock& block) override;

  std::string kind() const override { return "labels"; }
  void write_task(Writer&) const override {}
  void write_result(Writer& out) const override;
  void read_result(Reader& in, const std::shared_ptr<const Weights>&) override;

  /// Writes the most probable cluster, from 1, of each visited row into `label`, an array of all rows of the
  /// data.
  void put_into(int* label, const Batch& batch) const;

 private:
  struct Row {
    int row, label;
  };
  std::vector<std::vector<Row>> found_;  // for each chunk of the batch the labels of its rows
};

}  // namespace bnpvi
