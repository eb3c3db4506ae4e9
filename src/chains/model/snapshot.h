// Snapshot of a fit for its moves: the rows and sequences in which each state occurs, as visits of batches
// found them.
#pragma once
#include "chains/messages/window_messages.h"
#include "inference/learn/batch_work.h"

namespace bnpvi::chains {

/// Snapshot: results of the last visit of each batch, indexed by the numbers of rows and sequences (groups)
/// in the whole data set.
struct Snapshot {
  Index k = 0;
  std::vector<int> label;
  std::vector<float> mass;                             // groups × K: Σ_t r_tk per sequence, without weights
  Vec weight;                                          // weight of each sequence
  std::vector<std::shared_ptr<const WorkGlobals>> at;  // for each batch: globals of its last visit
  // Only for moves that need messages (forward and backward probabilities): those of the most probable state
  // of every row, and the log scale of every row; NaN where it was not computed.
  std::vector<EndMessages> messages;
  Vec log_scale;
};

/// Collects during the visit of a batch what a Snapshot stores about it. Chunks have different rows but may
/// have rows of the same sequence, whose masses are added up afterwards.
class SnapshotWatch final : public Watch {
 public:
  /// messages: whether to collect the messages of the most probable states, too.
  SnapshotWatch(Index k, bool messages) : k_(k), wants_messages_(messages) {}

  void visiting(const Batch& batch, const std::shared_ptr<const Weights>& weights) override;
  void begin(Index n_chunks) override { found_.assign(static_cast<std::size_t>(n_chunks), {}); }
  void visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock& block) override;
  bool wants_messages() const override { return wants_messages_; }
  void visit_messages(Index row, const double* r, const double* alpha, const double* nu,
                      double scale) override;
  void finish() override;

  std::string kind() const override { return "snapshot"; }
  void write_task(Writer& out) const override;
  void write_result(Writer& out) const override;
  void read_result(Reader& in, const std::shared_ptr<const Weights>& weights) override;

  /// Writes the results of this batch into the snapshot of all rows and groups.
  void put_into(Snapshot& all, const Batch& batch) const;

 private:
  struct Mass {
    Index unit;  // position of the sequence in the batch
    Vec mass;
  };

  Index unit_of(Index row) const;

  const Index k_;
  const bool wants_messages_;
  std::vector<Index> begin_, offset_;     // first row of each unit, and how many rows come before it
  std::vector<std::vector<Mass>> found_;  // masses of sequences found in each chunk
  std::vector<int> label_;                // state of each row of the units, one unit after the other
  std::vector<EndMessages> messages_;     // messages and log scales of the same rows, if wanted
  Vec log_scale_;
  std::vector<float> mass_;  // units × K: Σ_t r_tk of each sequence
  Vec weight_;
};

/// Task that computes again what the last visit of some sequences of a batch found
/// (HmmAlloc::found_before()), from the globals and the memory of that visit.
class SeenWork final : public BatchWork {
 public:
  SeenWork(Index batch, std::shared_ptr<const WorkGlobals> at, std::vector<Index> units,
           std::shared_ptr<const UnitMemory> memory)
      : BatchWork(batch, std::move(at)), units_(std::move(units)), memory_(std::move(memory)) {}
  SeenWork(Index batch, std::shared_ptr<const WorkGlobals> at, Reader& in);

  void run(const Problem& problem, const Batch& data, Pool& pool) override;
  std::string kind() const override { return "seen"; }
  void write_task(Writer& out) const override;
  void write_result(Writer& out) const override { found.write(out, false); }
  void read_result(Reader& in) override { found = Summary::read(in); }

  Summary found;

 private:
  std::vector<Index> units_;
  std::shared_ptr<const UnitMemory> memory_;
};

}  // namespace bnpvi::chains
