// Learns a stochastic blockmodel: first a search over hard labels of nodes, then variational inference with
// soft labels.
#pragma once
#include "networks/learn_sampled.h"
#include "networks/partition_search.h"
#include "networks/soft_blocks.h"

namespace bnpvi::networks {

/// What was learned by a fit of a blockmodel: labels of nodes and statistics of blocks.
struct Blocks {
  std::vector<int> labels;  // the best labels found, numbered by decreasing size of the clusters
  double log_joint = 0;
  Index k = 0;
  Vec r;      // soft labels of the nodes, n × k, row-major
  Vec sizes;  // expected sizes of the clusters under soft labels
  Owners owner;
  Vec n, s;  // numbers of pairs and sums of values in the blocks: k × k, row-major
  BlockBound bound;
};

/// A fit of a blockmodel. First a search (partition_search.h) looks for the hard labels with the largest log
/// joint density with the data. Each of its laps is a pass over all nodes. Then soft labels start at the
/// partition found, with clusters by decreasing size. Further laps raise the bound of soft labels, and join
/// clusters where that raises it. At the end the most probable labels are improved by moving single nodes. If
/// their log joint density is then larger than that of the search, they are the result.
/// then larger than that of the search, these labels are the result.
/// With degree correction log p(y | z) is not a sum over pairs of nodes, so labels stay hard. Then a last lap
/// computes the bound of the partition found, with sticks in the order of its clusters.
class BlocksFit final : public NetworkFit {
 public:
  /// degrees: the degrees of the nodes for degree correction, or null. The options births, merges and deletes
  /// apply to the search and to soft labels.
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
  std::optional<Blocks> answer_;  // set after the search in a model with degrees
  std::optional<SoftBlocks> soft_, kept_;
  double bound_ = 0, kept_bound_ = 0;
};

/// A fit of a blockmodel with soft labels by stochastic learning. It starts from hard labels 0 .. K − 1. The
/// number of clusters K stays the same.
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
