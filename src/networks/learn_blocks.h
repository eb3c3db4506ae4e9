// Learning a stochastic blockmodel: search with hard labels, then soft ones.
#pragma once
#include "networks/learn_sampled.h"
#include "networks/partition_search.h"
#include "networks/soft_blocks.h"

namespace bnpvi::networks {

/// What is known of a blockmodel in the end.
struct Blocks {
  std::vector<int> labels;  // of the largest log joint found, clusters by decreasing size
  double log_joint = 0;
  Index k = 0;
  Vec r;      // n × k, row-major, soft labels
  Vec sizes;  // of the soft clusters
  Owners owner;
  Vec n, s;  // k × k, row-major: statistics of the blocks
  BlockBound bound;
};

/// Laps of a search (partition_search.h) raise the log joint of hard labels. Soft labels then start at the
/// partition found, with the clusters in decreasing size, and laps raise their bound. Joins of soft clusters
/// are made where they raise it. At the end the most probable labels are visited once more: if their log
/// joint is larger, they are the answer.
///
/// With degrees labels stay hard, as log p(y | z) is no sum over pairs of nodes: a last lap reports the bound
/// of the partition found, with sticks in the order of its clusters.
class BlocksFit final : public NetworkFit {
 public:
  /// degrees: null, or of nodes; options.births, merges and deletes are for both phases.
  BlocksFit(const Links& links, const LinkModel& model, const Degrees* degrees, double gamma,
            OwnedLabels start, const SearchOptions& options, Pool& pool);

  Blocks result() const;

  LapRecord lap(Index n) override;
  double objective() const override { return hard() ? search_.objective() : bound_; }
  double score() const override { return result().log_joint; }
  bool still() const override { return !hard() || search_.still(); }
  double units() const override { return links_.units(); }
  bool next_phase(Why) override;
  void keep() override;
  void go_back() override;
  void write(Writer& out) const override;
  void read(Reader& in) override;

 private:
  bool hard() const { return !answer_ && !soft_; }
  LapRecord soft_lap();
  Blocks by_partition() const;

  const Links& links_;
  const LinkModel& model_;
  const Degrees* degrees_;
  const double gamma_;
  const SearchOptions options_;
  Pool& pool_;
  PartitionSearch search_;
  std::optional<Blocks> answer_;  // with degrees, after the search
  std::optional<SoftBlocks> soft_, kept_;
  double bound_ = 0, kept_bound_ = 0;
};

/// Soft labels by stochastic learning from `labels` (0 .. K − 1) on, with all K clusters to the end.
class SampledBlocks final : public SampledFit {
 public:
  SampledBlocks(const Links& links, const LinkModel& model, double gamma, const std::vector<int>& labels,
                const SampledOptions& options, Pool& pool);

  Blocks result() const;
  double objective() const override { return soft_.bound().sum(); }
  double score() const override { return result().log_joint; }
  void write(Writer& out) const override;
  void read(Reader& in) override;

 private:
  Index k() const override { return soft_.k(); }
  void step(const std::vector<int>& nodes, double rate) override { soft_.step(nodes, rate); }
  void visit_all() override { soft_.lap(); }

  const Links& links_;
  const LinkModel& model_;
  const double gamma_;
  SoftBlocks soft_;
};

}  // namespace bnpvi::networks
