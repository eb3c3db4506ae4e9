// The rows of a batch that a move would reassign.
#pragma once
#include <utility>

#include "inference/learn/batch_work.h"
#include "inference/moves/unit_edit.h"
#include "mixtures/target_rows.h"

namespace bnpvi::mixtures {

/// The rows of a batch on which a target (some clusters) has some responsibility, with their responsibilities
/// in all clusters. The entries (cluster, value) of all rows are stored one row after the other.
struct TouchedRows {
  std::vector<Index> rows;       // numbers of the rows, ascending
  Vec weight;                    // weight of each row, in the order of `rows`
  std::vector<Index> offset{0};  // entries of row i: offset[i] .. offset[i + 1] − 1
  std::vector<int> cluster;
  Vec value;

  // Only if rows may lack cells. expected: the clusters' weights from which missing cells were replaced by
  // expectations at the visit. at_visit: for each cluster its row of these weights.
  std::shared_ptr<const Weights> expected;
  std::vector<Index> at_visit;

  Index size() const { return static_cast<Index>(rows.size()); }

  void reserve(std::size_t n, std::size_t entries);
  void append(const TouchedRows& other);
  TouchedRows some(const std::vector<Index>& numbers) const;        // the rows with these numbers
  TouchedRows with_mass(const Target& target, double least) const;  // rows on which it has at least `least`
  double get(Index row, Index j) const;                // responsibility of cluster j for rows[row]
  double mass(Index row, const Target& target) const;  // total responsibility of the target
  /// Renumbers the clusters: cluster j becomes number[j], or −1 if it was deleted. A deleted cluster must
  /// have no mass on these rows.
  void renumber(const std::vector<Index>& number);

  void write(Writer& out, bool with_weights) const;
  static TouchedRows read(Reader& in);
};

/// The rows of a batch on which any of several targets (some clusters each) has some responsibility. A row of
/// several targets is stored only once; with Student-t clusters every row belongs to every target.
struct RowsOfTargets {
  TouchedRows all;                   // in the order of the visit
  std::vector<std::vector<int>> of;  // for each target its rows, as positions in `all`, ascending

  explicit RowsOfTargets(std::size_t n_targets = 0) : of(n_targets) {}

  void append(const RowsOfTargets& other);
  /// The rows of one target in ascending order. The order of the visit may be different: with L-sparse
  /// responsibilities (at most L clusters a row) rows are visited by cluster.
  TouchedRows rows_of(std::size_t target) const;

  void write(Writer& out) const;  // without the weights of the visit
  static RowsOfTargets read(Reader& in);
};

/// The rows of one target, by batch.
std::vector<TouchedRows> rows_of(const std::vector<RowsOfTargets>& batches, std::size_t target);

/// True when targets a and b have a row in common.
bool share_rows(const std::vector<RowsOfTargets>& batches, std::size_t a, std::size_t b);

/// Observes a visit of a batch. For each target (some clusters) it collects the rows on which the target has
/// any mass: all of them, or a sample.
class TouchedSink final : public Watch {
 public:
  /// expects: whether rows may lack cells. The weights of the visit are then stored, since missing cells are
  /// replaced by expectations under them. every: for each target a number m; in each chunk every m-th of its
  /// rows is collected. If m > 1, rows of which the target has less than 1 % are left out. Empty: all rows of
  /// all targets.
  TouchedSink(const std::vector<Target>& targets, bool expects, std::vector<Index> every = {});
  static std::unique_ptr<Watch> read(Reader& in);

  void visiting(const Batch&, const std::shared_ptr<const Weights>& weights) override {
    if (expects_) expected_ = weights;
  }
  void begin(Index n_chunks) override;
  void visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock& block) override;
  void finish() override;

  std::string kind() const override { return "touched_rows"; }
  void write_task(Writer& out) const override;
  void write_result(Writer& out) const override { found_.write(out); }
  void read_result(Reader& in, const std::shared_ptr<const Weights>& weights) override;

  /// Hands over the rows that were collected.
  RowsOfTargets take() { return std::move(found_); }

 private:
  void expect();  // stores in the rows found the weights of the visit

  const std::vector<Target> targets_;
  const std::size_t n_targets_;
  const bool expects_;
  const std::vector<Index> every_;
  std::shared_ptr<const Weights> expected_;           // weights of the visit; null: rows lack no cells
  std::vector<std::vector<std::size_t>> targets_of_;  // by cluster, up to the last one in any target
  std::vector<RowsOfTargets> chunk_;                  // rows found in each chunk, during the visit
  // by target and chunk: how many of its rows were seen, for targets of which a sample is collected
  std::vector<std::vector<Index>> seen_;
  RowsOfTargets found_;  // after the visit
};

/// A task that subtracts some rows from the summary (sums of statistics) of their batch.
class WithoutWork final : public BatchWork {
 public:
  WithoutWork(Index batch, std::shared_ptr<const Summary> whole, const TouchedRows& touched)
      : BatchWork(batch, nullptr), whole_(std::move(whole)), touched_(&touched) {}
  WithoutWork(Index batch, Reader& in);

  void run(const Problem& problem, const Batch& data, Pool& pool) override;
  double products_per_number(const Problem& problem) const override;
  std::string kind() const override { return "without"; }
  void write_task(Writer& out) const override;
  void write_result(Writer& out) const override { rest.write(out); }
  void read_result(Reader& in) override { rest = Summary::read(in); }

  Summary rest;

 private:
  Summary without(const Problem& problem, Pool& pool, const Batch& batch) const;

  std::shared_ptr<const Summary> whole_;
  std::unique_ptr<TouchedRows> own_;  // set if the task was read from an archive
  const TouchedRows* touched_;
};

/// Prepares another visit of some rows. Returns for every batch the rows to be visited, and the summary (sums
/// of statistics and entropy) of its other rows.
std::vector<EditedPart> parts_without(const Problem& problem, Pool& pool, const State& state,
                                      const std::vector<TouchedRows>& touched);

}  // namespace bnpvi::mixtures
