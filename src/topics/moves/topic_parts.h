// A topic's parts, that is, its tokens in each of some documents, and their clusters: they show how a topic
// that mixes several comes apart.
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

/// most_probable_clusters() (part_chain.h) of the parts, each of which is kept whole; clusters have the term
/// prior λ (V numbers).
std::vector<int> cluster_parts(const std::vector<TopicPart>& parts, const Vec& lambda, double concentration,
                               Index sweeps, Index most, Stream& stream, Pool& pool);

}  // namespace bnpvi::topics
