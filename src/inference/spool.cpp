#include "inference/spool.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <stdexcept>
#include <system_error>

#include "foundation/archive.h"
#include "foundation/durable_file.h"

namespace bnpvi {

namespace {

namespace fs = std::filesystem;

constexpr char mark[8] = {'s', 'p', 'o', 'o', 'l', 'e', 'n', 'd'};
constexpr std::int64_t aligned_to = 4096;
constexpr Index most_pending_of_all = Index{1} << 23;  // doubles, 64 MB: a guess

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw FileError("\"" + path + "\": " + why);
}

// Where the arrays of a batch begin, counted from its own beginning.
struct Arrays {
  std::int64_t values, row_start, column, rows, groups, starts, weight, classes, back, position, group_value,
      end;

  Arrays(const SpoolIndex& index, const BatchSize& size) {
    const DataShape& shape = index.shape;
    const auto doubles = [](Index n) { return static_cast<std::int64_t>(n) * 8; };
    const auto ints = [](Index n) { return (static_cast<std::int64_t>(n) + 1) / 2 * 8; };
    values = 0;
    row_start = doubles(shape.sparse ? size.entries : size.rows * shape.d);
    column = row_start + (shape.sparse ? ints(size.rows + 1) : 0);
    rows = column + (shape.sparse ? ints(size.entries) : 0);
    groups = rows + ints(size.rows);
    starts = groups + (size.groups ? ints(size.groups) : 0);
    weight = starts + (size.groups ? ints(size.groups + 1) : 0);
    classes = weight + (shape.weighted ? doubles(size.rows) : 0);
    back = classes + (shape.labelled ? ints(size.rows) : 0);
    position = back + (shape.trees ? ints(size.rows) : 0);
    group_value = position + (shape.positions ? ints(size.rows) : 0);
    end = group_value + doubles(size.groups * index.group_width);
  }
};

std::string fresh(const std::string& path) { return path + ".new"; }

void write_index(const SpoolIndex& index, Writer& out) {
  out.integer(index.shape.n);
  out.integer(index.shape.d);
  out.integer(index.shape.n_groups);
  out.flag(index.shape.sparse);
  out.flag(index.shape.rows_are_groups);
  out.flag(index.shape.weighted);
  out.flag(index.shape.labelled);
  out.flag(index.shape.trees);
  out.flag(index.shape.positions);
  out.list(index.size);
  out.integer(index.group_width);
  out.integer(index.class_sets.n_classes);
  out.list(index.class_sets.has);
}

SpoolIndex read_index(Reader& in) {
  SpoolIndex out;
  out.shape.n = in.integer();
  out.shape.d = in.integer();
  out.shape.n_groups = in.integer();
  out.shape.sparse = in.flag();
  out.shape.rows_are_groups = in.flag();
  out.shape.weighted = in.flag();
  out.shape.labelled = in.flag();
  out.shape.trees = in.flag();
  out.shape.positions = in.flag();
  out.size = in.list<std::vector<BatchSize>>();
  out.group_width = in.integer();
  out.class_sets.n_classes = in.integer();
  out.class_sets.has = in.list<std::vector<char>>();
  return out;
}

template <class T>
std::vector<Index> widened(const char* at, Index n) {
  const T* from = reinterpret_cast<const T*>(at);
  return {from, from + n};
}

}  // namespace

std::vector<std::int64_t> SpoolIndex::offsets() const {
  std::vector<std::int64_t> out{0};
  for (const BatchSize& batch : size)
    out.push_back((out.back() + Arrays(*this, batch).end + aligned_to - 1) / aligned_to * aligned_to);
  return out;
}

// Rows of a batch that are not on the disk yet, and how much of it is there.
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
      file_(fs::u8path(fresh(path_)), std::ios::binary | std::ios::trunc),
      pending_(index_.size.size()),
      most_pending_(most_pending_of_all / std::max<Index>(1, static_cast<Index>(index_.size.size()))) {
  if (!file_) fail(path_, std::generic_category().message(errno));
}

SpoolWriter::~SpoolWriter() {
  if (finished_) return;
  file_.close();
  std::error_code ignored;
  fs::remove(fs::u8path(fresh(path_)), ignored);
}

template <class T>
void SpoolWriter::put(std::int64_t at, const T* values, Index n) {
  if (n == 0) return;
  errno = 0;
  file_.seekp(at);
  file_.write(reinterpret_cast<const char*>(values), static_cast<std::streamsize>(n * sizeof(T)));
  file_.flush();
  if (!file_) fail(path_, std::generic_category().message(errno != 0 ? errno : EIO));
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
  const Arrays at(index_, all);
  const std::int64_t base = offsets_[b];
  const Index n = static_cast<Index>(from.rows.size()), groups = static_cast<Index>(from.groups.size()),
              entries = static_cast<Index>(from.column.size()), d = index_.shape.d;
  if (from.done.rows + n > all.rows || from.done.groups + groups > all.groups ||
      (index_.shape.sparse && from.done.entries + entries > all.entries))
    throw std::invalid_argument("internal error: a batch of the spool gets more than its index says");
  if (index_.shape.sparse) {
    put(base + at.values + 8 * from.done.entries, from.values.data(), entries);
    put(base + at.column + 4 * from.done.entries, from.column.data(), entries);
    put(base + at.row_start + 4 * from.done.rows, from.row_start.data(), n);
  } else {
    Vec column(static_cast<std::size_t>(n));
    for (Index j = 0; j < d; ++j) {
      for (Index i = 0; i < n; ++i) column[i] = from.values[i * d + j];
      put(base + at.values + 8 * (j * all.rows + from.done.rows), column.data(), n);
    }
  }
  put(base + at.rows + 4 * from.done.rows, from.rows.data(), n);
  put(base + at.weight + 8 * from.done.rows, from.weight.data(), static_cast<Index>(from.weight.size()));
  put(base + at.classes + 4 * from.done.rows, from.classes.data(), static_cast<Index>(from.classes.size()));
  put(base + at.back + 4 * from.done.rows, from.back.data(), static_cast<Index>(from.back.size()));
  put(base + at.position + 4 * from.done.rows, from.position.data(),
      static_cast<Index>(from.position.size()));
  put(base + at.group_value + 8 * index_.group_width * from.done.groups, from.group_value.data(),
      static_cast<Index>(from.group_value.size()));
  if (groups) {
    put(base + at.groups + 4 * from.done.groups, from.groups.data(), groups);
    put(base + at.starts + 4 * from.done.groups, from.starts.data(), groups);
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
    const Arrays at(index_, all);
    const int rows = static_cast<int>(all.rows), entries = static_cast<int>(all.entries);
    if (index_.shape.sparse) put(offsets_[b] + at.row_start + 4 * all.rows, &entries, 1);
    if (all.groups) put(offsets_[b] + at.starts + 4 * all.groups, &rows, 1);
  }
  Writer out;
  write_index(index_, out);
  const auto length = static_cast<std::int64_t>(out.bytes().size());
  put(offsets_.back(), out.bytes().data(), length);
  put(offsets_.back() + length, &length, 1);
  put(offsets_.back() + length + 8, mark, sizeof mark);
  file_.close();
  std::error_code error;
  if (!file_) error = {EIO, std::generic_category()};
  if (!error) fs::rename(fs::u8path(fresh(path_)), fs::u8path(path_), error);
  if (error) fail(path_, error.message());
  finished_ = true;
}

Spool::Spool(const std::string& path) : file_(path) {
  const std::int64_t size = file_.size();
  const char* end = file_.data() + size;
  std::int64_t length = 0;
  if (size < 16 || std::memcmp(end - 8, mark, sizeof mark) != 0)
    fail(path, "it is not a spool, or was cut short");
  std::memcpy(&length, end - 16, sizeof length);
  if (length < 0 || length > size - 16) fail(path, "it is not a spool, or was cut short");
  try {
    Reader in(end - 16 - length, static_cast<std::size_t>(length));
    index_ = read_index(in);
  } catch (const std::invalid_argument& error) {
    fail(path, error.what());
  }
  offsets_ = index_.offsets();
  if (offsets_.back() != size - 16 - length) fail(path, "its parts do not fit together");
}

std::shared_ptr<Spool::Held> Spool::open(Index b) const {
  file_.check();
  const DataShape& shape = index_.shape;
  const BatchSize& size = index_.size[b];
  const Arrays at(index_, size);
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
  held->rows = widened<int>(base + at.rows, size.rows);
  if (size.groups) {
    held->groups = widened<int>(base + at.groups, size.groups);
    data.starts = widened<int>(base + at.starts, size.groups + 1);
  } else {
    held->groups = {0};
    data.starts = {0, size.rows};
  }
  return held;
}

SpoolSource::SpoolSource(std::shared_ptr<const Spool> spool, std::vector<Index> starts, bool grouped,
                         const ObsModel* obs, bool one_more, const int* back, const int* position)
    : spool_(std::move(spool)),
      starts_(std::move(starts)),
      back_(back),
      position_(position),
      grouped_(grouped),
      one_more_(one_more) {
  if (grouped_ || !obs || obs->n_cells() == 0) return;
  for (Index b = 0; b < static_cast<Index>(spool_->index().size.size()); ++b) {
    const auto held = spool_->open(b);
    std::vector<Index> order(static_cast<std::size_t>(held->data.n));
    std::iota(order.begin(), order.end(), Index{0});
    sort_by_missing_cells(*obs, held->data, order);
    order_.push_back(std::move(order));
  }
}

Index SpoolSource::n_batches() const { return static_cast<Index>(spool_->index().size.size()) + one_more_; }

std::shared_ptr<const Batch> SpoolSource::open(Index b) const {
  const Index last = static_cast<Index>(spool_->index().size.size());
  const auto held = spool_->open(std::min(b, last - 1));
  if (b == last) return {held, &held->batch};
  if (!order_.empty()) {
    held->units = order_[b];
  } else {
    held->units.resize(static_cast<std::size_t>(grouped_ ? held->data.n_groups() : held->data.n));
    std::iota(held->units.begin(), held->units.end(), Index{0});
  }
  return {held, &held->batch};
}

}  // namespace bnpvi
