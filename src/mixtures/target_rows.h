// The rows of a batch that belong to the targets of a move.
#pragma once
#include "foundation/random.h"
#include "inference/learn/state.h"

namespace bnpvi::mixtures {

/// Clusters whose mass is redistributed together: one, or several to be joined first.
using Target = std::vector<Index>;

/// Rows of a batch with the mass (weight of the row times responsibility) that may be moved on each.
struct MassOnRows {
  std::vector<Index> rows;
  Vec mass;
  bool all = true;  // no other row has mass of the target, so that its statistic on other rows is exactly 0

  // Where rows may lack cells: the weights under which these were expected when the mass was put where it is,
  // the clusters that it was put in, as rows of these weights, and the mass of each (rows × clusters).
  std::shared_ptr<const Weights> expected;
  Target cluster;
  Vec by_cluster;

  double total() const;

  /// Its statistic (p), as the batch's summary has it.
  Vec statistic(const ObsModel& obs, const Dataset& data, Pool& pool) const;

  void write(Writer& out) const;
  static MassOnRows read(Reader& in);
};

/// Copies about `rows` of the rows, or all. sample: on return these rows, numbered as in the copy, with their
/// mass scaled up to that of all.
Sample take_sample(const Problem& problem, const std::vector<MassOnRows>& by_batch, Index rows,
                   Stream& stream, MassOnRows& sample);

/// Archives the weights of a visit, for MassOnRows and others.
void write_weights(Writer& out, const std::shared_ptr<const Weights>& weights);  // null: none
std::shared_ptr<const Weights> read_weights(Reader& in);
void write_targets(Writer& out, const std::vector<Target>& targets);
std::vector<Target> read_targets(Reader& in);

/// Collects, for each target, the rows on which it has at least 1 % of the responsibility, and the change
/// of entropy when its clusters are joined.
class TargetRows final : public Watch {
 public:
  /// expects: rows may lack cells, which are expected under the weights of the visit.
  TargetRows(std::vector<Target> targets, bool expects) : targets_(std::move(targets)), expects_(expects) {}
  static std::unique_ptr<Watch> read(Reader& in);

  void visiting(const Batch&, const std::shared_ptr<const Weights>& weights) override {
    if (expects_) expected_ = weights;
  }
  void begin(Index n_chunks) override;
  void visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock& block) override;

  std::string kind() const override { return "target_rows"; }
  void write_task(Writer& out) const override;
  void write_result(Writer& out) const override;
  void read_result(Reader& in, const std::shared_ptr<const Weights>& weights) override;

  MassOnRows rows_of(std::size_t target) const;
  double entropy_of_joining(std::size_t target) const;

 private:
  struct Found {
    MassOnRows where;
    double entropy = 0;
  };
  const std::vector<Target> targets_;
  const bool expects_;
  std::shared_ptr<const Weights> expected_;  // null: no cells are
  std::vector<std::vector<Found>> found_;    // by target and chunk
};

/// Change of Σ −w r log r when the responsibilities of some clusters are added up, for the rows of a block, w
/// being their weights; ≤ 0.
double joining_entropy(const Responsibilities& r, const Target& joined, const FeatureBlock& block);

}  // namespace bnpvi::mixtures
