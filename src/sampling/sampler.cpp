#include "sampling/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bnpvi {

std::vector<std::string> Target::recorded() const {
  std::vector<std::string> out{"n_clusters"};
  for (const std::string& name : concentrations()) out.push_back(name);
  for (const char* name : {"log_joint", "largest", "entropy"}) out.push_back(name);
  return out;
}

Sizes::Sizes(const std::vector<Index>& counts) {
  const double n = static_cast<double>(std::accumulate(counts.begin(), counts.end(), Index{0}));
  for (Index count : counts) {
    if (count == 0) continue;
    const double share = static_cast<double>(count) / n;
    largest = std::max(largest, static_cast<double>(count));
    entropy -= share * std::log(share);
  }
}

}  // namespace bnpvi
