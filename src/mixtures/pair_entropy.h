// The entropy of q(z) that merges of two clusters would lose, collected while batches are visited.
#pragma once
#include "mixtures/target_rows.h"

namespace bnpvi::mixtures {

/// For each of some pairs of clusters a and b, the change of the entropy of q(z) if they were one cluster: Σ
/// w [−(r_a + r_b) log(r_a + r_b) + r_a log r_a + r_b log r_b] ≤ 0. The sum is over the visited rows with
/// weights w and responsibilities r. It is kept separately for each chunk of rows.
class PairEntropy final : public Watch {
 public:
  explicit PairEntropy(std::vector<Target> pairs) : pairs_(std::move(pairs)) {}
  static std::unique_ptr<Watch> read(Reader& in);

  void begin(Index n_chunks) override;
  void visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock& block) override;

  std::string kind() const override { return "pair_entropy"; }
  void write_task(Writer& out) const override;
  void write_result(Writer& out) const override { out.list(total()); }
  void read_result(Reader& in, const std::shared_ptr<const Weights>&) override { change_ = {in.list<Vec>()}; }

  Vec total() const;

 private:
  const std::vector<Target> pairs_;
  std::vector<Vec> change_;
};

}  // namespace bnpvi::mixtures
