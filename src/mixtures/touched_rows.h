// The rows of a batch that a move would assign afresh.
#pragma once
#include "inference/unit_edit.h"
#include "mixtures/target_rows.h"

namespace bnpvi::mixtures {

/// The rows on which a target has some responsibility, with those of all clusters.
struct TouchedRows {
  std::vector<Index> rows;       // ascending
  Vec weight;                    // of each row
  std::vector<Index> offset{0};  // entries of row i: offset[i] .. offset[i+1]-1
  std::vector<int> cluster;
  Vec value;

  // Where rows may lack cells: the weights under which these were expected at the visit, and the row of these
  // weights that each cluster had then.
  std::shared_ptr<const Weights> expected;
  std::vector<Index> at_visit;

  void append(const TouchedRows& other);
  TouchedRows ascending() const;                                    // the same in order of the rows
  TouchedRows with_mass(const Target& target, double least) const;  // those on which it has so much
  double get(Index row, Index j) const;  // responsibility of cluster j for the row-th of these rows
  double mass(Index row, const Target& target) const;  // responsibility of the target
  /// Cluster j is number[j] from now on; −1 for one that is gone, on which none of these rows has mass.
  void renumber(const std::vector<Index>& number);

 private:
  TouchedRows some(const std::vector<Index>& numbers) const;  // these of the rows
};

/// Collects the touched rows of each target during a visit: those on which it has any mass, or at least
/// `least`.
class TouchedSink final : public ResponsibilitySink {
 public:
  TouchedSink(const std::vector<Target>& targets, std::shared_ptr<const Weights> expected, double least = 0);

  void begin(Index n_chunks) override;
  void visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock& block) override;

  /// Ascending, in whichever order the rows were visited (L-sparse visits sort them by cluster).
  TouchedRows rows_of(std::size_t target) const;

 private:
  const std::size_t n_targets_;
  const std::shared_ptr<const Weights> expected_;
  const double least_;
  std::vector<std::vector<std::size_t>> targets_of_;  // by cluster, up to the last that is in one
  std::vector<std::vector<TouchedRows>> found_;       // by target and chunk
};

/// These rows of every batch, to be visited again, and the batches' summaries without them and their entropy.
std::vector<EditedPart> parts_without(const Problem& problem, Pool& pool, const State& state,
                                      const std::vector<TouchedRows>& touched);

/// True when two targets have a row in common; their rows by batch, or none at all.
bool share_rows(const std::vector<TouchedRows>& a, const std::vector<TouchedRows>& b);

}  // namespace bnpvi::mixtures
