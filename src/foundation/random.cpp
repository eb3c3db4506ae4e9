#include "foundation/random.h"

#include <numeric>

namespace bnpvi {

std::uint64_t restart_seed(std::uint64_t seed, std::uint64_t r) {
  return r == 0 ? seed : Stream(seed, Purpose::restart, r).next() >> 33;
}

std::vector<Index> shuffled(Index n, Stream& stream) {
  std::vector<Index> out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), Index{0});
  for (Index i = n - 1; i > 0; --i) std::swap(out[i], out[stream.index(i + 1)]);
  return out;
}

Index draw(const Vec& weight, Stream& stream) {
  double total = 0;
  for (double w : weight) total += w;
  if (!(total > 0)) return -1;
  double u = stream.uniform() * total;
  Index last = -1;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    if (weight[i] <= 0) continue;
    last = static_cast<Index>(i);
    if ((u -= weight[i]) < 0) return last;
  }
  return last;
}

}  // namespace bnpvi
