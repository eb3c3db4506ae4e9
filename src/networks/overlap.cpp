#include "networks/overlap.h"

#include <algorithm>

namespace bnpvi::networks {

Vec with_columns_divided(const Vec& x, Index k, const std::vector<Division>& divisions, double share,
                         double left) {
  const std::size_t before = static_cast<std::size_t>(k), after = before + divisions.size();
  Vec out(x.size() / before * after);
  for (std::size_t i = 0; i * before < x.size(); ++i) {
    const double* row = x.data() + i * before;
    double* to = out.data() + i * after;
    std::copy_n(row, before, to);
    to += before;
    for (const Division& division : divisions) {
      const double more = share * row[division.of] + left, less = (1 - share) * row[division.of] + left;
      *to++ = division.leaves[i] ? more : less;
      out[i * after + division.of] = division.leaves[i] ? less : more;
    }
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
