// The rows of a batch that a move would assign afresh.
#pragma once
#include "inference/learn/batch_work.h"
#include "inference/moves/unit_edit.h"
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

  Index size() const { return static_cast<Index>(rows.size()); }

  void append(const TouchedRows& other);
  TouchedRows ascending() const;                                    // the same in order of the rows
  TouchedRows some(const std::vector<Index>& numbers) const;        // these of the rows
  TouchedRows with_mass(const Target& target, double least) const;  // those on which it has so much
  double get(Index row, Index j) const;  // responsibility of cluster j for the row-th of these rows
  double mass(Index row, const Target& target) const;  // responsibility of the target
  /// Cluster j is number[j] from now on; −1 for one that is gone, on which none of these rows has mass.
  void renumber(const std::vector<Index>& number);

  void write(Writer& out, bool with_weights) const;
  static TouchedRows read(Reader& in);
};

/// Collects the touched rows of each target during a visit: those on which it has any mass, or at least
/// `least`.
class TouchedSink final : public Watch {
 public:
  /// expects: as of TargetRows.
  TouchedSink(const std::vector<Target>& targets, bool expects, double least = 0);
  static std::unique_ptr<Watch> read(Reader& in);

  void visiting(const Batch&, const std::shared_ptr<const Weights>& weights) override {
    if (expects_) expected_ = weights;
  }
  void begin(Index n_chunks) override;
  void visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock& block) override;

  std::string kind() const override { return "touched_rows"; }
  void write_task(Writer& out) const override;
  void write_result(Writer& out) const override;
  void read_result(Reader& in, const std::shared_ptr<const Weights>& weights) override;

  /// Ascending, in whichever order the rows were visited (L-sparse visits sort them by cluster).
  TouchedRows rows_of(std::size_t target) const;

 private:
  const std::vector<Target> targets_;
  const std::size_t n_targets_;
  const bool expects_;
  const double least_;
  std::shared_ptr<const Weights> expected_;           // null: no cells are
  std::vector<std::vector<std::size_t>> targets_of_;  // by cluster, up to the last that is in one
  std::vector<std::vector<TouchedRows>> found_;       // by target and chunk
};

/// Takes some rows out of the summary of their batch.
class WithoutWork final : public BatchWork {
 public:
  WithoutWork(Index batch, std::shared_ptr<const Summary> whole, const TouchedRows& touched)
      : BatchWork(batch, nullptr), whole_(std::move(whole)), touched_(&touched) {}
  WithoutWork(Index batch, Reader& in);

  void run(const Problem& problem, const Batch& data, Pool& pool) override;
  std::string kind() const override { return "without"; }
  void write_task(Writer& out) const override;
  void write_result(Writer& out) const override { rest.write(out); }
  void read_result(Reader& in) override { rest = Summary::read(in); }

  Summary rest;

 private:
  Summary without(const Problem& problem, Pool& pool, const Batch& batch) const;

  std::shared_ptr<const Summary> whole_;
  std::unique_ptr<TouchedRows> own_;  // where the task was read
  const TouchedRows* touched_;
};

/// These rows of every batch, to be visited again, and the batches' summaries without them and their entropy.
std::vector<EditedPart> parts_without(const Problem& problem, Pool& pool, const State& state,
                                      const std::vector<TouchedRows>& touched);

/// True when two targets have a row in common; their rows by batch, or none at all.
bool share_rows(const std::vector<TouchedRows>& a, const std::vector<TouchedRows>& b);

}  // namespace bnpvi::mixtures
