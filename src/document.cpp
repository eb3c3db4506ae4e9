#include "document.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bnpvi {

namespace {

// exp(C − max_k C), row by row.
void exponentials_of(const double* c, Index rows, Index k, Vec& e) {
  e.resize(static_cast<std::size_t>(rows * k));
  for (Index u = 0; u < rows; ++u) {
    const double* x = c + u * k;
    const double top = *std::max_element(x, x + k);
    for (Index j = 0; j < k; ++j) e[u * k + j] = std::exp(x[j] - top);
  }
}

}  // namespace

TopicTable::TopicTable(const Weights& weights, bool exponentials)
    : k(weights.k), c(weights.transposed.data() + weights.k) {
  if (exponentials) exponentials_of(c, weights.p - 1, k, e);
}

bool rows_are_documents(const ObsModel& obs, const Dataset& data) {
  return obs.tokens() && data.sparse() && data.n_groups() == data.n;
}

DocumentReader::DocumentReader(const ObsModel& obs, const Dataset& data)
    : obs_(obs), data_(data), by_term_(rows_are_documents(obs, data)), block_(obs, data) {}

DocumentView DocumentReader::load(Index document, const Weights& weights, const TopicTable* shared,
                                  bool exponentials) {
  rows_.resize(static_cast<std::size_t>(data_.starts[document + 1] - data_.starts[document]));
  std::iota(rows_.begin(), rows_.end(), data_.starts[document]);
  DocumentView view;
  view.k = weights.k;
  if (by_term_) {
    const int from = data_.row_start[document];
    view.n = data_.row_start[document + 1] - from;
    view.c = shared->c;
    view.e = shared->e.empty() ? nullptr : shared->e.data();
    view.row = data_.column + from;
    view.weight = data_.value + from;
    view.length = std::accumulate(view.weight, view.weight + view.n, 0.0);
    return view;
  }
  view.n = static_cast<Index>(rows_.size());
  view.length = static_cast<double>(view.n);
  c_.resize(static_cast<std::size_t>(view.n * view.k));
  for (Index from = 0; from < view.n; from += block_.block_rows()) {
    block_.load(rows_.data() + from, std::min(block_.block_rows(), view.n - from));
    block_.times(weights, c_.data() + from * view.k);
  }
  view.c = c_.data();
  if (exponentials) {
    exponentials_of(c_.data(), view.n, view.k, own_.e);
    view.e = own_.e.data();
  }
  return view;
}

}  // namespace bnpvi
