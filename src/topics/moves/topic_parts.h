// A topic's parts (its tokens in each of some documents) and clusters of these parts. If there are several
// clusters, the topic mixes several topics.
#pragma once
#include <vector>

#include "foundation/pool.h"
#include "foundation/random.h"

namespace bnpvi::topics {

/// The tokens of a topic in one document, as counts of different words.
struct TopicPart {
  std::vector<int> word, count;
  Index n = 0;  // number of tokens
};

/// Clusters the parts with most_probable_clusters() (part_chain.h); each part is kept whole. lambda: λ, the
/// prior of terms in every cluster (V numbers).
std::vector<int> cluster_parts(const std::vector<TopicPart>& parts, const Vec& lambda, double concentration,
                               Index sweeps, Index most, Stream& stream, Pool& pool);

}  // namespace bnpvi::topics
