// The rows of a batch that belong to clusters that a move changes.
#pragma once
#include "foundation/random.h"
#include "inference/learn/state.h"

namespace bnpvi::mixtures {

/// Clusters whose mass a move divides anew: one cluster, or several that are joined first. Mass: weight of a
/// row times responsibility.
using Target = std::vector<Index>;

/// Rows of a batch, each with the mass (weight of the row times responsibility) that may be moved.
struct MassOnRows {
  std::vector<Index> rows;
  Vec mass;
  // true: the target has no mass on other rows, so its statistic without these rows is exactly 0
  bool all = true;

  // Only if rows may lack cells. expected: the clusters' weights from which missing cells were replaced by
  // expectations when the mass was assigned. cluster: the clusters that have the mass, as rows of these
  // weights. by_cluster: the mass of each of them (rows × clusters).
  std::shared_ptr<const Weights> expected;
  Target cluster;
  Vec by_cluster;

  double total() const;

  /// The statistic Σ mass φ(x) of the rows, p numbers. Missing cells are replaced by the expectations that
  /// are also in the summary of the batch.
  Vec statistic(const ObsModel& obs, const Dataset& data, Pool& pool) const;

  void write(Writer& out) const;
  static MassOnRows read(Reader& in);
};

/// Copies about `rows` of the rows of all batches, or all if there are fewer. Returns the copied data.
/// sample: receives these rows, numbered as in the copy; their mass is scaled up to the mass of all rows.
Sample take_sample(const Problem& problem, const std::vector<MassOnRows>& by_batch, Index rows,
                   Stream& stream, MassOnRows& sample);

/// Write and read the weights that were used in a visit, for MassOnRows and other types.
void write_weights(Writer& out, const std::shared_ptr<const Weights>& weights);  // null: none
std::shared_ptr<const Weights> read_weights(Reader& in);
void write_targets(Writer& out, const std::vector<Target>& targets);
std::vector<Target> read_targets(Reader& in);

/// Observes a visit of a batch. For each target (clusters whose mass is divided anew) it collects the rows on
/// which the target has at least 1 % of the responsibility. It also computes the change of entropy from
/// joining the target's clusters.
class TargetRows final : public Watch {
 public:
  /// expects: whether rows may lack cells. The weights of the visit are then stored, since missing cells are
  /// replaced by expectations under them.
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
  std::shared_ptr<const Weights> expected_;  // weights of the visit; null: rows lack no cells
  std::vector<std::vector<Found>> found_;    // rows found for each target in each chunk
};

/// The change of the entropy Σ −w r log r over the rows of a block if the clusters `joined` become one, whose
/// responsibility is the sum of theirs; never positive. r: responsibilities; w: weights of the rows.
double joining_entropy(const Responsibilities& r, const Target& joined, const FeatureBlock& block);

}  // namespace bnpvi::mixtures
