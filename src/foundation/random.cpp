#include "foundation/random.h"

#include <numeric>

namespace bnpvi {

std::vector<Index> shuffled(Index n, Stream& stream) {
  std::vector<Index> out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), Index{0});
  for (Index i = n - 1; i > 0; --i) std::swap(out[i], out[stream.index(i + 1)]);
  return out;
}

}  // namespace bnpvi
