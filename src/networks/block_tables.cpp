#include "networks/block_tables.h"

namespace bnpvi::networks {

void gather(const SparseRows& rows, Index node, const Vec& r, Index k, double* sum) {
  for (Index e = rows.start[node]; e < rows.start[node + 1]; ++e) {
    const double y = rows.value.empty() ? 1 : rows.value[e];
    const double* other = r.data() + rows.other[e] * k;
    for (Index l = 0; l < k; ++l) sum[l] += y * other[l];
  }
}

void add_pair(Vec& t, const double* p, const double* q, double x, Index k) {
  for (Index a = 0; a < k; ++a) {
    const double w = x * p[a];
    if (w == 0) continue;
    for (Index b = 0; b < k; ++b) t[a * k + b] += w * q[b];
  }
}

Vec listed_table(const Links& links, const std::vector<int>& from, const std::vector<int>& to,
                 const Vec* value, const Vec& r, Index k) {
  Vec t(static_cast<std::size_t>(k * k));
  for (std::size_t p = 0; p < from.size(); ++p) {
    links.poll(static_cast<Index>(p));
    add_pair(t, r.data() + from[p] * k, r.data() + to[p] * k, value ? (*value)[p] : 1, k);
  }
  if (links.directed()) return t;
  for (Index a = 0; a < k; ++a)
    for (Index b = 0; b < a; ++b) t[a * k + b] = t[b * k + a] = t[a * k + b] + t[b * k + a];
  return t;
}

Vec table_of_all(const Links& links, const Vec& size, const Vec& r, Index k) {
  Vec t(static_cast<std::size_t>(k * k));
  for (Index i = 0; i < links.n(); ++i) {
    links.poll(i);
    add_pair(t, r.data() + i * k, r.data() + i * k, 1, k);
  }
  for (Index a = 0; a < k; ++a)
    for (Index b = 0; b < k; ++b)
      t[a * k + b] = (size[a] * size[b] - t[a * k + b]) * (a == b && !links.directed() ? 0.5 : 1);
  return t;
}

Vec table_of_ends(const Links& links, const Vec& out, const Vec& in, Index k, double scale) {
  Vec t(out.size());
  for (Index a = 0; a < k; ++a)
    for (Index b = 0; b < k; ++b) {
      const std::size_t at = static_cast<std::size_t>(a * k + b),
                        turned = static_cast<std::size_t>(b * k + a);
      if (links.directed()) {
        t[at] = scale * (out[at] + in[turned]) / 2;
      } else {
        t[at] = scale * (a == b ? out[at] : out[at] + out[turned]) / 2;
      }
    }
  return t;
}

void move_towards(Vec& x, const Vec& y, double rate) {
  for (std::size_t at = 0; at < x.size(); ++at) x[at] = (1 - rate) * x[at] + rate * y[at];
}

Vec table_joined(const Vec& t, Index k, Index a, Index b, bool directed) {
  Vec sum = t;
  for (Index l = 0; l < k; ++l) {
    if (l == a || l == b) continue;
    sum[a * k + l] += t[b * k + l];
    sum[l * k + a] += t[l * k + b];
  }
  sum[a * k + a] += t[b * k + b] + t[a * k + b] + (directed ? t[b * k + a] : 0);
  std::vector<Index> order;
  for (Index l = 0; l < k; ++l)
    if (l != b) order.push_back(l);
  return table_in_order(sum, k, order);
}

Vec table_in_order(const Vec& t, Index k, const std::vector<Index>& order) {
  Vec out;
  for (Index a : order)
    for (Index b : order) out.push_back(t[a * k + b]);
  return out;
}

}  // namespace bnpvi::networks
