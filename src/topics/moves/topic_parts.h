// Clusters the parts of a topic (its tokens in each of some documents). Several clusters suggest that the
// topic mixes several topics.
#pragma once
#include <vector>

#include "foundation/pool.h"
#include "foundation/random.h"

namespace bnpvi::topics {

/// A part of a topic: its tokens in one document, as counts of different words.
struct TopicPart {
  std::vector<int> word, count;
  Index n = 0;  // number of tokens
};

/// Clusters the parts of a topic by most_probable_clusters() (part_chain.h). The tokens of a part all go to
/// the same cluster. lambda: Dirichlet prior of the V terms (words) in each cluster. Returns the cluster of
/// each part.
std::vector<int> cluster_parts(const std::vector<TopicPart>& parts, const Vec& lambda, double concentration,
                               Index sweeps, Index most, Stream& stream, Pool& pool);

}  // namespace bnpvi::topics
