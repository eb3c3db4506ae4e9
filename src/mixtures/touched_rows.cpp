#include "mixtures/touched_rows.h"

namespace bnpvi::mixtures {

void TouchedRows::append(const TouchedRows& other) {
  rows.insert(rows.end(), other.rows.begin(), other.rows.end());
  const Index shift = offset.back();
  for (std::size_t i = 1; i < other.offset.size(); ++i) offset.push_back(shift + other.offset[i]);
  cluster.insert(cluster.end(), other.cluster.begin(), other.cluster.end());
  value.insert(value.end(), other.value.begin(), other.value.end());
}

double TouchedRows::get(Index row, Index j) const {
  for (Index e = offset[row]; e < offset[row + 1]; ++e)
    if (cluster[e] == j) return value[e];
  return 0;
}

void TouchedSink::begin(Index n_chunks) {
  found_.assign(targets_.size(), std::vector<TouchedRows>(static_cast<std::size_t>(n_chunks)));
}

void TouchedSink::visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock&) {
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    TouchedRows& out = found_[i][chunk];
    for (Index n = 0; n < r.n; ++n) {
      if (r.get(n, targets_[i]) == 0) continue;
      out.rows.push_back(rows[n]);
      for (Index l = 0; l < r.width; ++l) {
        const double x = r.value[n * r.width + l];
        if (x == 0) continue;
        out.cluster.push_back(r.sparse ? r.cluster[n * r.width + l] : static_cast<int>(l));
        out.value.push_back(x);
      }
      out.offset.push_back(static_cast<Index>(out.value.size()));
    }
  }
}

TouchedRows TouchedSink::rows_of(std::size_t i) const {
  TouchedRows all;
  std::size_t rows = 0, entries = 0;
  for (const TouchedRows& part : found_[i]) {
    rows += part.rows.size();
    entries += part.value.size();
  }
  all.rows.reserve(rows);
  all.offset.reserve(rows + 1);
  all.cluster.reserve(entries);
  all.value.reserve(entries);
  for (const TouchedRows& part : found_[i]) all.append(part);
  return all;
}

}  // namespace bnpvi::mixtures
