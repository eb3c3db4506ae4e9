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

Vec Sampler::sweep(ChainState& z, std::uint64_t seed, std::uint64_t chain) {
  Stream stream(seed, Purpose::sampler, chain, static_cast<std::uint64_t>(z.sweeps));
  const double log_joint = draw(z, stream);
  ++z.sweeps;
  const std::vector<Index> size = sizes();
  const double n = static_cast<double>(std::accumulate(size.begin(), size.end(), Index{0}));
  double largest = 0, entropy = 0;
  for (Index count : size) {
    const double share = static_cast<double>(count) / n;
    largest = std::max(largest, static_cast<double>(count));
    entropy -= share * std::log(share);
  }
  Vec out{static_cast<double>(size.size())};
  out.insert(out.end(), z.concentration.begin(), z.concentration.end());
  out.insert(out.end(), {log_joint, largest, entropy});
  return out;
}

}  // namespace bnpvi
