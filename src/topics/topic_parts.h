// What one topic has in each of some documents, and clusters of these parts: how a topic that mixes several
// comes apart.
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

/// Log probability of words with the counts (V) and their sum n from one topic with term prior λ, its
/// distribution of terms integrated out; as a sequence.
double log_evidence_of_counts(const Vec& counts, double n, const Vec& lambda);

/// Clusters 0 .. K − 1 ≤ most − 1 of the parts, each part wholly in one: the most probable state in so many
/// sweeps of collapsed Gibbs sampling of a Chinese restaurant of the given concentration over clusters with
/// term prior λ (V), begun by dealing the parts out one by one.
std::vector<int> cluster_parts(const std::vector<TopicPart>& parts, const Vec& lambda, double concentration,
                               Index sweeps, Index most, Stream& stream, Pool& pool);

}  // namespace bnpvi::topics
