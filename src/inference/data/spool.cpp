#include "inference/data/spool.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>

#include "foundation/archive.h"
#include "foundation/checksum.h"
#include "foundation/file_error.h"
#include "inference/data/spool_index.h"
#include "observations/capabilities.h"

namespace bnpvi {

namespace {

constexpr Index most_pending_of_all = Index{1} << 23;  // size of all buffers in doubles, 64 MB: a guess

template <class T>
std::vector<Index> widened(const char* at, Index n) {
  const T* from = reinterpret_cast<const T*>(at);
  return {from, from + n};
}

}  // namespace

// The buffer of a batch: rows that are not written yet, and how much has been written.
struct SpoolWriter::Pending {
  Vec values;  // of dense rows row by row
  std::vector<int> row_start, column, rows, groups, starts, classes, back, position;
  Vec weight, group_value;
  BatchSize done;
  Index numbers = 0;
};

SpoolWriter::SpoolWriter(std::string path, SpoolIndex index)
    : path_(std::move(path)),
      index_(std::move(index)),
      offsets_(index_.offsets()),
      file_(path_, Readers::as_usual),
      pending_(index_.size.size()),
      most_pending_(most_pending_of_all / std::max<Index>(1, static_cast<Index>(index_.size.size()))) {
  index_.sum.assign(index_.size.size(), 0);
}

SpoolWriter::~SpoolWriter() = default;

template <class T>
void SpoolWriter::put(Index b, std::int64_t at, const T* values, Index n) {
  const auto bytes = static_cast<std::int64_t>(n * sizeof(T));
  file_.put(offsets_[b] + at, values, bytes);
  index_.sum[b] += sum_of_words(values, bytes, at / 4);
}

void SpoolWriter::add_row(Pending& to, const Dataset& piece, Index row) {
  to.rows.push_back(static_cast<int>(rows_++));
  if (piece.weight) to.weight.push_back(piece.weight[row]);
  if (piece.classes) to.classes.push_back(piece.classes[row]);
  if (piece.back) to.back.push_back(piece.back[row]);
  if (piece.position) to.position.push_back(piece.position[row]);
  to.numbers += 1;
  if (!piece.sparse()) {
    for (Index j = 0; j < piece.d; ++j) to.values.push_back(piece.dense[j * piece.n + row]);
    to.numbers += piece.d;
    return;
  }
  to.row_start.push_back(static_cast<int>(to.done.entries + static_cast<Index>(to.column.size())));
  const int from = piece.row_start[row], until = piece.row_start[row + 1];
  to.column.insert(to.column.end(), piece.column + from, piece.column + until);
  to.values.insert(to.values.end(), piece.value + from, piece.value + until);
  to.numbers += 2 * (until - from);
}

void SpoolWriter::add(const Dataset& piece, const int* batch) {
  const bool grouped = index_.grouped();
  const Index n = grouped ? piece.n_groups() : piece.n;
  for (Index unit = 0; unit < n; ++unit) {
    if (batch[unit] < 0) {
      rows_ += grouped ? piece.starts[unit + 1] - piece.starts[unit] : 1;
      groups_ += grouped;
      continue;
    }
    Pending& to = pending_.at(static_cast<std::size_t>(batch[unit]));
    if (to.rows.empty() && !piece.sparse())
      to.values.reserve(static_cast<std::size_t>(std::min(
          most_pending_ + piece.d, (index_.size[batch[unit]].rows - to.done.rows) * index_.shape.d)));
    if (grouped) {
      to.groups.push_back(static_cast<int>(groups_++));
      if (const double* value = piece.value_of_group(unit))
        to.group_value.insert(to.group_value.end(), value, value + piece.group_width);
      to.starts.push_back(static_cast<int>(to.done.rows + static_cast<Index>(to.rows.size())));
      for (Index row = piece.starts[unit]; row < piece.starts[unit + 1]; ++row) add_row(to, piece, row);
    } else {
      add_row(to, piece, unit);
    }
    if (to.numbers >= most_pending_) flush(batch[unit]);
  }
}

void SpoolWriter::flush(Index b) {
  Pending& from = pending_[b];
  const BatchSize& all = index_.size[b];
  const SpoolArrays at(index_, all);
  const Index n = static_cast<Index>(from.rows.size()), groups = static_cast<Index>(from.groups.size()),
              entries = static_cast<Index>(from.column.size()), d = index_.shape.d;
  if (from.done.rows + n > all.rows || from.done.groups + groups > all.groups ||
      (index_.shape.sparse && from.done.entries + entries > all.entries))
    throw std::invalid_argument("internal error: a batch of the spool gets more than its index says");
  if (index_.shape.sparse) {
    put(b, at.values + 8 * from.done.entries, from.values.data(), entries);
    put(b, at.column + 4 * from.done.entries, from.column.data(), entries);
    put(b, at.row_start + 4 * from.done.rows, from.row_start.data(), n);
  } else {
    Vec column(static_cast<std::size_t>(n));
    for (Index j = 0; j < d; ++j) {
      for (Index i = 0; i < n; ++i) column[i] = from.values[i * d + j];
      put(b, at.values + 8 * (j * all.rows + from.done.rows), column.data(), n);
    }
  }
  put(b, at.rows + 4 * from.done.rows, from.rows.data(), n);
  put(b, at.weight + 8 * from.done.rows, from.weight.data(), static_cast<Index>(from.weight.size()));
  put(b, at.classes + 4 * from.done.rows, from.classes.data(), static_cast<Index>(from.classes.size()));
  put(b, at.back + 4 * from.done.rows, from.back.data(), static_cast<Index>(from.back.size()));
  put(b, at.position + 4 * from.done.rows, from.position.data(), static_cast<Index>(from.position.size()));
  put(b, at.group_value + 8 * index_.group_width * from.done.groups, from.group_value.data(),
      static_cast<Index>(from.group_value.size()));
  if (groups) {
    put(b, at.groups + 4 * from.done.groups, from.groups.data(), groups);
    put(b, at.starts + 4 * from.done.groups, from.starts.data(), groups);
  }
  const BatchSize done{from.done.rows + n, from.done.groups + groups, from.done.entries + entries};
  from = Pending();
  from.done = done;
}

void SpoolWriter::finish() {
  for (Index b = 0; b < static_cast<Index>(pending_.size()); ++b) {
    flush(b);
    const BatchSize &all = index_.size[b], &done = pending_[b].done;
    if (done.rows != all.rows || done.groups != all.groups || done.entries != all.entries)
      throw std::invalid_argument("internal error: a batch of the spool gets less than its index says");
    const SpoolArrays at(index_, all);
    const int rows = static_cast<int>(all.rows), entries = static_cast<int>(all.entries);
    if (index_.shape.sparse) put(b, at.row_start + 4 * all.rows, &entries, 1);
    if (all.groups) put(b, at.starts + 4 * all.groups, &rows, 1);
  }
  const std::string end = end_of_spool(index_);
  file_.put(offsets_.back(), end.data(), static_cast<std::int64_t>(end.size()));
  file_.place(false);
}

Spool::Spool(const std::string& path)
    : path_(path),
      file_(path),
      index_(read_end_of_spool(path, file_.data(), file_.size())),
      offsets_(index_.offsets()),
      checked_(index_.size.size()) {}

std::shared_ptr<Spool::Held> Spool::open(Index b) const {
  file_.check();
  const DataShape& shape = index_.shape;
  const BatchSize& size = index_.size[b];
  const SpoolArrays at(index_, size);
  const char* base = file_.data() + offsets_[b];
  file_.expect(offsets_[b], at.end);
  auto held = std::make_shared<Held>();
  Dataset& data = held->data;
  data.n = size.rows;
  data.d = shape.d;
  data.rows_are_groups = shape.rows_are_groups;
  if (shape.sparse) {
    data.value = reinterpret_cast<const double*>(base + at.values);
    data.row_start = reinterpret_cast<const int*>(base + at.row_start);
    data.column = reinterpret_cast<const int*>(base + at.column);
  } else {
    data.dense = reinterpret_cast<const double*>(base + at.values);
  }
  const auto ints = [&](std::int64_t from) { return reinterpret_cast<const int*>(base + from); };
  if (shape.weighted) data.weight = reinterpret_cast<const double*>(base + at.weight);
  if (shape.labelled) data.classes = ints(at.classes), data.class_sets = &index_.class_sets;
  if (shape.trees) data.back = ints(at.back);
  if (shape.positions) data.position = ints(at.position);
  if (index_.group_width) data.group_value = reinterpret_cast<const double*>(base + at.group_value);
  data.group_width = index_.group_width;
  if (!checked_[b] && sum_of_words(base, at.end, 0) != index_.sum[b]) {
    file_.check();
    fail_file(path_, "batch " + std::to_string(b + 1) + " was damaged");
  }
  held->rows = widened<int>(base + at.rows, size.rows);
  if (size.groups) {
    held->groups = widened<int>(base + at.groups, size.groups);
    data.starts = widened<int>(base + at.starts, size.groups + 1);
  } else {
    held->groups = {0};
    data.starts = {0, size.rows};
  }
  if (!checked_[b]) check_batch(b, *held);
  checked_[b] = true;
  return held;
}

void Spool::check_batch(Index b, const Held& held) const {
  const Dataset& data = held.data;
  const BatchSize& size = index_.size[b];
  const auto need = [&](bool holds, const char* what) {
    if (!holds) fail_file(path_, "batch " + std::to_string(b + 1) + ": " + what);
  };
  const auto ascend = [](const std::vector<Index>& numbers, Index n) {
    return std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<Index>()) == numbers.end() &&
           (numbers.empty() || (numbers.front() >= 0 && numbers.back() < n));
  };
  const auto all = [&](const auto* values, Index n, auto test) {
    return !values || std::all_of(values, values + n, test);
  };
  need(ascend(held.rows, index_.shape.n), "numbers of its rows");
  need(ascend(held.groups, index_.shape.n_groups), "numbers of its groups");
  const std::vector<Index>& starts = data.starts;
  need(starts.front() == 0 && std::is_sorted(starts.begin(), starts.end()) && starts.back() == data.n,
       "where its groups start");
  need(size.groups == 0 || !data.rows_are_groups ||
           std::adjacent_find(starts.begin(), starts.end()) == starts.end(),
       "where its groups start");
  if (data.sparse()) {
    const int* start = data.row_start;
    need(start[0] == 0 && std::is_sorted(start, start + data.n + 1) && start[data.n] == size.entries,
         "where its rows start");
    need(all(data.column, size.entries, [&](int j) { return 0 <= j && j < data.d; }), "its columns");
  }
  need(all(data.weight, data.n, [](double w) { return w >= 0 && std::isfinite(w); }), "its weights");
  const Index sets = index_.class_sets.n_sets();
  need(all(data.classes, data.n, [&](int set) { return 0 <= set && set <= sets; }), "its classes");
  need(all(data.position, data.n, [](int at) { return at >= 0; }), "positions of its rows");
  for (std::size_t g = 0; data.back && g + 1 < starts.size(); ++g)
    for (Index row = starts[g]; row < starts[g + 1]; ++row)
      need(0 <= data.back[row] && data.back[row] <= row - starts[g], "parents of its rows");
}

SpoolSource::SpoolSource(std::shared_ptr<const Spool> spool, std::vector<Index> starts, bool grouped,
                         const ObsModel* obs, bool one_more, const int* back, const int* position)
    : spool_(std::move(spool)),
      starts_(std::move(starts)),
      back_(back),
      position_(position),
      grouped_(grouped),
      one_more_(one_more) {
  if (grouped_ || !obs || !obs->capabilities().cells) return;
  for (Index b = 0; b < static_cast<Index>(spool_->index().size.size()); ++b) {
    const auto held = spool_->open(b);
    std::vector<Index> order(static_cast<std::size_t>(held->data.n));
    std::iota(order.begin(), order.end(), Index{0});
    sort_by_missing_cells(*obs, held->data, order);
    order_.push_back(std::move(order));
  }
}

// Checks that the groups of a batch consist of the rows that starts() says.
void SpoolSource::require_lengths(const Spool::Held& held) const {
  for (std::size_t i = 0; i < held.groups.size(); ++i) {
    const auto g = static_cast<std::size_t>(held.groups[i]);
    const Index n = held.data.starts[i + 1] - held.data.starts[i];
    if (g + 1 >= starts_.size() || starts_[g + 1] - starts_[g] != n ||
        (n > 0 && (held.rows[held.data.starts[i]] != starts_[g] ||
                   held.rows[held.data.starts[i + 1] - 1] != starts_[g + 1] - 1)))
      throw FileError("a group of the spool has other rows than the data say");
  }
}

Index SpoolSource::n_batches() const { return static_cast<Index>(spool_->index().size.size()) + one_more_; }

void SpoolSource::hold() {
  std::vector<std::shared_ptr<const Batch>> held;
  for (Index b = 0; b < n_batches(); ++b) held.push_back(open(b));
  held_ = std::move(held);
}

std::shared_ptr<const Batch> SpoolSource::open(Index b) const {
  if (!held_.empty()) {
    check();
    return held_[b];
  }
  const Index last = static_cast<Index>(spool_->index().size.size());
  const auto held = spool_->open(std::min(b, last - 1));
  if (b == last) return {held, &held->batch};
  if (grouped_ && !starts_.empty()) require_lengths(*held);
  if (!order_.empty()) {
    held->units = order_[b];
  } else {
    held->units.resize(static_cast<std::size_t>(grouped_ ? held->data.n_groups() : held->data.n));
    std::iota(held->units.begin(), held->units.end(), Index{0});
  }
  return {held, &held->batch};
}

}  // namespace bnpvi
