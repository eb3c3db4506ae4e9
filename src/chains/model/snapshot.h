// Where each state lives, as visits of batches see it.
#pragma once
#include "chains/messages/window_messages.h"
#include "inference/learn/batch_work.h"

namespace bnpvi::chains {

/// Most probable state of every row (−1 where the row is not modelled) and the mass of every state in every
/// sequence, by their numbers among all, as of the last visit of each batch.
struct Snapshot {
  Index k = 0;
  std::vector<int> label;
  std::vector<float> mass;                             // groups × K, of sequences as if of weight 1
  Vec weight;                                          // of each group
  std::vector<std::shared_ptr<const WorkGlobals>> at;  // by batch: globals of the visit
  // Of the most probable state of every row, where moves ask for it; log_scale is NaN where there is none.
  std::vector<EndMessages> messages;
  Vec log_scale;
};

/// Collects the part of a batch; chunks share no rows but may share sequences, whose masses are added up
/// afterwards.
class SnapshotWatch final : public Watch {
 public:
  /// messages: those of the most probable states are wanted, too.
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

  /// Puts what was found in its places among all rows and groups.
  void put_into(Snapshot& all, const Batch& batch) const;

 private:
  struct Mass {
    Index unit;  // position in the batch
    Vec mass;
  };

  Index unit_of(Index row) const;

  const Index k_;
  const bool wants_messages_;
  std::vector<Index> begin_, offset_;     // first row of each unit, and how many rows come before it
  std::vector<std::vector<Mass>> found_;  // by chunk
  std::vector<int> label_;                // of the rows of the units, one after the other
  std::vector<EndMessages> messages_;     // of the same rows, if wanted, and their log scales
  Vec log_scale_;
  std::vector<float> mass_;  // units × K
  Vec weight_;
};

/// What the last visit of some sequences of a batch, at these globals and with this memory, found of them.
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
