#include "topics/model/document.h"

#include <algorithm>
#include <numeric>

#include "foundation/prefetch.h"
#include "kernels/kernels.h"

namespace bnpvi::topics {

TopicTable::TopicTable(const Weights& weights, bool exponentials, Pool* pool)
    : k(weights.k), c{weights.w.data() + 1, 1, weights.p} {
  if (exponentials) exponentiate(weights.p - 1, pool);
}

void TopicTable::exponentiate(Index rows, Pool* pool) {
  constexpr Index step = 32;  // rows a task: a guess
  e.resize(static_cast<std::size_t>(rows * k));
  top.resize(static_cast<std::size_t>(rows));
  for_each_part(pool, (rows + step - 1) / step, [&](Index part) {
    const Index from = part * step, n = std::min(step, rows - from);
    const double* by_row = c.at + from * c.row_step;
    Buffer turned;
    if (c.topic_step != 1) {
      turned.resize(static_cast<std::size_t>(n * k));
      kernels().transpose_rows(k, n, by_row, c.topic_step, turned.data(), k);
      by_row = turned.data();
    }
    kernels().exp_rows(n, k, by_row, k, e.data() + from * k, k, top.data() + from);
  });
}

void append_logs(const DocumentView& view, Shares share, Vec& c) {
  for (const Share& s : share)
    for (Index u = 0; u < view.n; ++u) c.push_back(view.c(u, s.column));
}

bool rows_are_documents(const ObsModel& obs, const DataShape& data) {
  return obs.capabilities().tokens && data.sparse && data.rows_are_groups;
}

DocumentReader::DocumentReader(const ObsModel& obs, const Dataset& data)
    : data_(data), by_term_(rows_are_documents(obs, data)), block_(obs, data) {}

void DocumentReader::expect(Index document) const {
  if (!by_term_) return;
  const int from = data_.row_start[document];
  const auto n = static_cast<std::size_t>(data_.row_start[document + 1] - from);
  prefetch(data_.column + from, n);
  prefetch(data_.value + from, n);
}

Index DocumentReader::n_rows(Index document) const {
  const auto& starts = data_.starts;
  return by_term_ ? data_.row_start[document + 1] - data_.row_start[document]
                  : starts[document + 1] - starts[document];
}

DocumentView DocumentReader::load_rows(Index document) {
  rows_.resize(static_cast<std::size_t>(data_.starts[document + 1] - data_.starts[document]));
  std::iota(rows_.begin(), rows_.end(), data_.starts[document]);
  DocumentView view;
  view.n = n_rows(document);
  view.times = data_.weight_of_group(document);
  view.response = data_.value_of_group(document);
  view.length = static_cast<double>(view.n);
  if (by_term_) {
    view.row = data_.column + data_.row_start[document];
    view.weight = data_.value + data_.row_start[document];
    view.length = kernels().positive_sum(view.n, view.weight);
  }
  return view;
}

DocumentView DocumentReader::load(Index document, const Weights& weights, const TopicTable* shared,
                                  bool exponentials) {
  DocumentView view = load_rows(document);
  view.k = weights.k;
  if (by_term_) {
    view.c_table = shared->c;
    view.c_row = view.row;
    view.e = shared->e.empty() ? nullptr : shared->e.data();
    return view;
  }
  view.weights = &weights;
  c_.resize(static_cast<std::size_t>(view.n * view.k));
  for (Index from = 0; from < view.n; from += block_.block_rows()) {
    block_.load(rows_.data() + from, std::min(block_.block_rows(), view.n - from));
    block_.times(weights, c_.data() + from * view.k);
  }
  view.c_table = own_.c = {c_.data(), view.k, 1};
  own_.k = view.k;
  if (exponentials) {
    own_.exponentiate(view.n);
    view.e = own_.e.data();
  }
  return view;
}

DocumentView DocumentReader::recall(Index document, const ShareTable& memory, Index at) {
  const Weights* weights = memory.weights(at);
  if (!memory.block[memory.unit[at].block]->logs) {
    const TopicTable table = by_term_ ? TopicTable(*weights, false) : TopicTable();
    DocumentView view = load(document, *weights, &table, false);
    view.local = memory.local(at);
    return view;
  }
  DocumentView view = load_rows(document);
  view.local = memory.local(at);
  view.c_table = {memory.logs(at), 1, view.n};
  view.k = static_cast<Index>(memory.shares(at).size());
  view.weights = weights;
  return view;
}

}  // namespace bnpvi::topics
