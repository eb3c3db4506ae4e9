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

Owners read_owners(Reader& in, const Links& links, Index k) {
  if (!links.labelled()) return Owners(static_cast<std::size_t>(k));
  Owners out = in.list<Owners>();
  const auto good = [&](int owner) { return 0 <= owner && owner <= links.n_classes(); };
  require_stored(static_cast<Index>(out.size()) == k && std::all_of(out.begin(), out.end(), good),
                 "owners of communities");
  return out;
}

Owners read_owners(Reader& in, const Links& links, const std::vector<int>& labels) {
  int k = 0;
  for (int label : labels) k = std::max(k, label + 1);
  Owners out = read_owners(in, links, static_cast<Index>(k));
  for (std::size_t i = 0; i < labels.size(); ++i)
    require_stored(links.allows(static_cast<Index>(i), out[labels[i]]), "owners of communities");
  return out;
}

}  // namespace bnpvi::networks
