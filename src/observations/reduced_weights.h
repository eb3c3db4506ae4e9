// Reduced weights of several clusters at once, for rows with missing cells or unobserved scales
// (missing_pattern.h).
#pragma once
#include <vector>

#include "observations/missing_pattern.h"
#include "observations/weights.h"

namespace bnpvi {

/// The reduced weights w' of the chosen clusters under a pattern of missing cells: one row for each cluster,
/// with MissingPattern::n_weights() numbers.
inline Vec reduced_weights(const MissingPattern& pattern, const Weights& weights,
                           const std::vector<int>& clusters) {
  const Index width = pattern.n_weights();
  Vec out(clusters.size() * static_cast<std::size_t>(width));
  for (std::size_t j = 0; j < clusters.size(); ++j)
    pattern.weights(weights.w.data() + clusters[j] * weights.p, out.data() + static_cast<Index>(j) * width);
  return out;
}

}  // namespace bnpvi
