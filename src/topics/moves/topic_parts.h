// What one topic has in each of some documents of tokens, and clusters of these parts: how a topic that mixes
// several comes apart.
#pragma once
#include <vector>

#include "foundation/pool.h"
#include "foundation/random.h"

namespace bnpvi::topics {

/// Tokens of a topic in one document: counts of different words.
struct TopicPart {
  std::vector<int> word, count;
  Index n = 0;  // tokens
};

/// most_probable_clusters() of the parts (part_chain.h), each part wholly in one, of clusters with term prior
/// λ (V).
std::vector<int> cluster_parts(const std::vector<TopicPart>& parts, const Vec& lambda, double concentration,
                               Index sweeps, Index most, Stream& stream, Pool& pool);

}  // namespace bnpvi::topics
