#include "networks/overlap.h"

namespace bnpvi::networks {

Vec with_column_divided(const Vec& x, Index k, Index from, const std::vector<char>& leaves, double share,
                        double left) {
  Vec out;
  out.reserve(x.size() / static_cast<std::size_t>(k) * static_cast<std::size_t>(k + 1));
  for (std::size_t i = 0; i * k < x.size(); ++i) {
    const double* row = x.data() + i * k;
    out.insert(out.end(), row, row + k);
    const double more = share * row[from] + left, less = (1 - share) * row[from] + left;
    out.push_back(leaves[i] ? more : less);
    out[out.size() - 1 - k + from] = leaves[i] ? less : more;
  }
  return out;
}

Vec with_columns_added(const Vec& x, Index k, Index a, Index b) {
  Vec out = x;
  for (std::size_t at = 0; at < x.size(); at += k) out[at + a] += out[at + b];
  return without_column(out, k, b);
}

Vec without_column(const Vec& x, Index k, Index column) {
  Vec out;
  out.reserve(x.size());
  for (std::size_t at = 0; at < x.size(); at += k)
    for (Index j = 0; j < k; ++j)
      if (j != column) out.push_back(x[at + j]);
  return out;
}

Vec with_columns_in_order(const Vec& x, Index k, const std::vector<Index>& order) {
  Vec out;
  out.reserve(x.size());
  for (std::size_t at = 0; at < x.size(); at += k)
    for (Index j : order) out.push_back(x[at + j]);
  return out;
}

}  // namespace bnpvi::networks
