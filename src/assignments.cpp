#include "assignments.h"

#include <algorithm>

namespace bnpvi {

void Assignments::set(const Index* rows, const Responsibilities& resp) {
  for (Index i = 0; i < resp.n; ++i)
    for (Index j = 0; j < k; ++j) r[j * n + rows[i]] = resp.get(i, j);
}

void Assignments::split(Index j, const std::vector<Index>& rows, const Vec& mass, const Vec& share) {
  const Index m = static_cast<Index>(share.size()) / std::max<Index>(1, static_cast<Index>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double* p = share.data() + static_cast<Index>(i) * m;
    r[j * n + rows[i]] += mass[i] * (p[0] - 1);
    for (Index l = 1; l < m; ++l) r[(k - m + l) * n + rows[i]] = mass[i] * p[l];
  }
}

void Assignments::merge(Index a, Index b) {
  for (Index i = 0; i < n; ++i) r[a * n + i] += r[b * n + i];
  drop(b);
}

void Assignments::drop(Index j) {
  r.erase(r.begin() + j * n, r.begin() + (j + 1) * n);
  --k;
}

void Assignments::append(Index m) {
  k += m;
  r.resize(static_cast<std::size_t>(n * k), 0.0);
}

void Assignments::permute(const std::vector<Index>& order) {
  Vec out(r.size());
  for (std::size_t j = 0; j < order.size(); ++j)
    std::copy_n(r.begin() + order[j] * n, n, out.begin() + static_cast<Index>(j) * n);
  r.swap(out);
}

void AssignmentSink::begin(Index n_chunks) {
  if (next_) next_->begin(n_chunks);
}

void AssignmentSink::visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock& block) {
  if (out_) out_->set(rows, r);
  if (next_) next_->visit(chunk, rows, r, block);
}

}  // namespace bnpvi
