#include "networks/network_fit.h"

#include <algorithm>

#include "inference/check_progress.h"

namespace bnpvi::networks {

Vec read_numbers(Reader& in, std::size_t size, const char* what) {
  Vec out = in.list<Vec>();
  require_stored(out.size() == size, what);
  return out;
}

std::vector<int> read_labels(Reader& in, Index n) {
  std::vector<int> out = in.list<std::vector<int>>();
  std::vector<char> occurs(static_cast<std::size_t>(n));
  bool good = static_cast<Index>(out.size()) == n;
  for (int label : out) good = good && 0 <= label && label < n && (occurs[label] = 1);
  require_stored(good && std::is_sorted(occurs.rbegin(), occurs.rend()), "labels of nodes");
  return out;
}

}  // namespace bnpvi::networks
