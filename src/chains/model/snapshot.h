// For moves: in which rows and sequences each state occurs, as seen in visits (updates of q(z)) of batches.
#pragma once
#include "chains/messages/window_messages.h"
#include "inference/learn/batch_work.h"

namespace bnpvi::chains {

/// Results of the last visit of each batch by a local step (update of q(z)): the most probable state of every
/// row, and the expected rows of every state in every sequence. Rows and sequences (groups) have their
/// numbers in the whole data set.
struct Snapshot {
  Index k = 0;
  std::vector<int> label;
  // groups × K: Σ_t r_tk, the expected rows of state k in a sequence, without weights
  std::vector<float> mass;
  Vec weight;  // weight of each sequence
  // globals (parameters' posterior) at the last visit (update of q(z)) of each batch
  std::vector<std::shared_ptr<const WorkGlobals>> at;
  // Forward and backward messages of the most probable state of every row, and the log scale of every row;
  // NaN where they were not computed. Empty unless a move needs them.
  std::vector<EndMessages> messages;
  Vec log_scale;
};

/// Collects what a Snapshot stores about a batch while the batch is visited. Several chunks may have rows of
/// the same sequence; their masses (expected rows of each state) are added up afterwards.
class SnapshotWatch final : public Watch {
 public:
  /// messages: whether to collect the forward and backward messages of the most probable states, too.
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
  std::vector<std::vector<Mass>> found_;  // sequences found in each chunk, with their masses
  std::vector<int> label_;                // most probable state of each row, one unit after the other
  std::vector<EndMessages> messages_;     // messages and log scales of all rows of the units, if wanted
  Vec log_scale_;
  std::vector<float> mass_;  // units × K: Σ_t r_tk of each sequence, the expected rows of each state
  Vec weight_;
};

/// Task that computes again what the last visit (update of q(z)) of some sequences of a batch found
/// (HmmAlloc::found_before()), given the globals (parameters' posterior) and the memory of that visit.
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
