#include "inference/data/assignments.h"

#include <algorithm>
#include <numeric>

namespace bnpvi {

void Assignments::set(const Batch& batch, const Index* rows, const Responsibilities& resp) {
  for (Index i = 0; i < resp.n; ++i)
    for (Index j = 0; j < k; ++j) r[j * n + batch.row_number(rows[i])] = resp.get(i, j);
}

void Assignments::split(Index j, const Batch& batch, const std::vector<Index>& rows, const Vec& mass,
                        const Vec& share) {
  const Index m = static_cast<Index>(share.size()) / std::max<Index>(1, static_cast<Index>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double* p = share.data() + static_cast<Index>(i) * m;
    const Index row = batch.row_number(rows[i]);
    const double moved = mass[i] / batch.data.weight_of(rows[i]);
    r[j * n + row] += moved * (p[0] - 1);
    for (Index l = 1; l < m; ++l) r[(k - m + l) * n + row] = moved * p[l];
  }
}

void Assignments::renumber_joint(Index size, const std::vector<Index>& number) {
  if (joint.empty()) return;
  const Index old = static_cast<Index>(number.size());
  Vec out(static_cast<std::size_t>(n * size * size), 0.0);
  for (Index t = 0; t < n; ++t)
    for (Index l = 0; l < old; ++l)
      for (Index j = 0; j < old; ++j)
        if (number[l] >= 0 && number[j] >= 0)
          out[(t * size + number[l]) * size + number[j]] += joint[(t * old + l) * old + j];
  joint.swap(out);
}

void Assignments::merge(Index a, Index b) {
  for (Index i = 0; i < n; ++i) r[a * n + i] += r[b * n + i];
  std::vector<Index> number = numbers_without(k, b);
  number[b] = a;
  renumber_joint(k - 1, number);
  r.erase(r.begin() + b * n, r.begin() + (b + 1) * n);
  --k;
}

void Assignments::drop(Index j) {
  renumber_joint(k - 1, numbers_without(k, j));
  r.erase(r.begin() + j * n, r.begin() + (j + 1) * n);
  --k;
}

void Assignments::append(Index m) {
  std::vector<Index> number(static_cast<std::size_t>(k));
  std::iota(number.begin(), number.end(), Index{0});
  k += m;
  renumber_joint(k, number);
  r.resize(static_cast<std::size_t>(n * k), 0.0);
}

void Assignments::permute(const std::vector<Index>& order) {
  Vec out(r.size());
  for (std::size_t j = 0; j < order.size(); ++j)
    std::copy_n(r.begin() + order[j] * n, n, out.begin() + static_cast<Index>(j) * n);
  r.swap(out);
  std::vector<Index> number(order.size());
  for (std::size_t j = 0; j < order.size(); ++j) number[order[j]] = static_cast<Index>(j);
  renumber_joint(k, number);
}

void AssignmentSink::begin(Index n_chunks) {
  if (next_) next_->begin(n_chunks);
}

void AssignmentSink::visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock& block) {
  if (out_) out_->set(batch_, rows, r);
  if (next_) next_->visit(chunk, rows, r, block);
}

void AssignmentSink::visit_joint(Index row, const Vec& joint) {
  std::copy(joint.begin(), joint.end(),
            out_->joint.begin() + batch_.row_number(row) * static_cast<Index>(joint.size()));
}

}  // namespace bnpvi
