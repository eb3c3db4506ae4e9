// Learning a stochastic blockmodel: search with hard labels, then soft ones.
#pragma once
#include "networks/learn_sampled.h"
#include "networks/partition_search.h"
#include "networks/soft_blocks.h"

namespace bnpvi::networks {

struct BlocksFit {
  std::vector<int> labels;  // of the largest log joint found, clusters by decreasing size
  double log_joint = 0;
  Index k = 0;
  Vec r;      // n × k, row-major, soft labels
  Vec sizes;  // of the soft clusters
  Vec n, s;   // k × k, row-major: statistics of the blocks
  BlockBound bound;
  Index laps = 0;
  bool converged = false;
};

/// Searches from `labels` (partition_search.h); soft labels then start at the partition found, with the
/// clusters in decreasing size, and laps follow until the bound rises by less than tol · (1 + |bound|), at
/// most max_laps. Joins of soft clusters are made where they raise the bound. At the end the most probable
/// labels are visited once more: if their log joint is larger, they are the answer.
BlocksFit learn_blocks(const Links& links, const LinkModel& model, double gamma, std::vector<int> labels,
                       const SearchOptions& options, double tol, Pool& pool,
                       const std::function<void(LapRecord)>& told);

/// The same with degrees, whose labels stay hard, as log p(y | z) is no sum over pairs of nodes: the bound is
/// that of the partition found, with sticks in the order of its clusters.
BlocksFit learn_corrected_blocks(const Links& links, const LinkModel& model, const Degrees& degrees,
                                 double gamma, std::vector<int> labels, const SearchOptions& options,
                                 Pool& pool, const std::function<void(LapRecord)>& told);

/// Soft labels by stochastic learning from `labels` (0 .. K − 1) on, with all K clusters to the end.
BlocksFit learn_blocks_sampled(const Links& links, const LinkModel& model, double gamma,
                               const std::vector<int>& labels, const SampledOptions& options, Pool& pool,
                               const std::function<void(LapRecord)>& told);

}  // namespace bnpvi::networks
