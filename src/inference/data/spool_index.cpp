#include "inference/data/spool_index.h"

#include <cstring>
#include <limits>
#include <stdexcept>

#include "foundation/archive.h"
#include "foundation/checksum.h"
#include "foundation/file_error.h"

namespace bnpvi {

namespace {

constexpr char mark[8] = {'s', 'p', 'o', 'o', 'l', 'e', 'n', '2'};
constexpr char earlier_mark[8] = {'s', 'p', 'o', 'o', 'l', 'e', 'n', 'd'};  // format without checksums
constexpr std::int64_t aligned_to = 4096, tail = 24;                        // tail: length, checksum and mark

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
  out.list(index.sum);
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
  out.sum = in.list<std::vector<std::uint64_t>>();
  out.group_width = in.integer();
  out.class_sets.n_classes = in.integer();
  out.class_sets.has = in.list<std::vector<char>>();
  return out;
}

// True when offsets() cannot overflow for these sizes, and they match the length of the file.
bool fits(const SpoolIndex& index, std::int64_t n_bytes) {
  constexpr Index most = std::numeric_limits<int>::max();
  const DataShape& shape = index.shape;
  const auto is_count = [](Index x) { return 0 <= x && x <= most; };
  const ClassSets& sets = index.class_sets;
  if (!is_count(shape.n) || !is_count(shape.d) || !is_count(shape.n_groups) || !is_count(index.group_width) ||
      index.size.empty() || index.sum.size() != index.size.size())
    return false;
  if (sets.n_classes < 0 ||
      (sets.n_classes == 0 ? !sets.has.empty() || shape.labelled
                           : sets.has.size() % static_cast<std::size_t>(sets.n_classes + 1)))
    return false;
  Index rows = 0, groups = 0;
  for (const BatchSize& size : index.size) {
    if (!is_count(size.rows) || !is_count(size.groups) || !is_count(size.entries)) return false;
    const Index width = shape.sparse ? 0 : shape.d;
    if ((width > 0 && size.rows > n_bytes / 8 / width) ||
        (index.group_width > 0 && size.groups > n_bytes / 8 / index.group_width))
      return false;
    if (shape.rows_are_groups && size.groups > 0 && size.groups != size.rows) return false;
    rows += size.rows;
    groups += size.groups;
  }
  return rows <= shape.n && groups <= shape.n_groups && index.offsets().back() == n_bytes;
}

}  // namespace

SpoolArrays::SpoolArrays(const SpoolIndex& index, const BatchSize& size) {
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

std::vector<std::int64_t> SpoolIndex::offsets() const {
  std::vector<std::int64_t> out{0};
  for (const BatchSize& batch : size)
    out.push_back((out.back() + SpoolArrays(*this, batch).end + aligned_to - 1) / aligned_to * aligned_to);
  return out;
}

std::string end_of_spool(const SpoolIndex& index) {
  Writer out;
  write_index(index, out);
  std::string bytes = out.bytes();
  bytes.resize((bytes.size() + 3) / 4 * 4, '\0');
  const auto length = static_cast<std::int64_t>(bytes.size());
  const std::uint64_t sum = sum_of_words(bytes.data(), length, length);
  bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
  bytes.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  return bytes.append(mark, sizeof mark);
}

SpoolIndex read_end_of_spool(const std::string& path, const char* bytes, std::int64_t n) {
  const char* end = bytes + n;
  if (n >= 8 && std::memcmp(end - 8, earlier_mark, sizeof mark) == 0)
    fail_file(path, "it is a spool of an earlier version of the package");
  if (n < tail || std::memcmp(end - 8, mark, sizeof mark) != 0)
    fail_file(path, "it is not a spool, or was cut short");
  std::int64_t length;
  std::uint64_t sum;
  std::memcpy(&length, end - tail, sizeof length);
  std::memcpy(&sum, end - 16, sizeof sum);
  if (length < 0 || length > n - tail || sum_of_words(end - tail - length, length, length) != sum)
    fail_file(path, "its index was damaged");
  SpoolIndex index;
  try {
    Reader in(end - tail - length, static_cast<std::size_t>(length));
    index = read_index(in);
  } catch (const std::invalid_argument& error) {
    fail_file(path, error.what());
  }
  if (!fits(index, n - tail - length)) fail_file(path, "its parts do not fit together");
  return index;
}

}  // namespace bnpvi
