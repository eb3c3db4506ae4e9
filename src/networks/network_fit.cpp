#include "networks/network_fit.h"

#include <algorithm>

#include "inference/learn/check_progress.h"

namespace bnpvi::networks {

Vec read_numbers(Reader& in, Index size, double least, const char* what) {
  Vec out = in.list<Vec>();
  const auto good = [&](double x) { return std::isfinite(x) && x >= least; };
  require_stored(static_cast<Index>(out.size()) == size && std::all_of(out.begin(), out.end(), good), what);
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
