#include "chains/model/chain_memory.h"

#include <algorithm>

#include "chains/model/sequence_rows.h"

namespace bnpvi::chains {

namespace {

// A memory of sequences with length(unit) modelled rows each.
template <class Length>
std::shared_ptr<UnitMemory> made(const std::vector<Index>& units, Index width, Length length) {
  auto out = std::make_shared<UnitMemory>();
  out->unit = units;
  out->row_start.assign(1, 0);
  for (Index unit : units) out->row_start.push_back(out->row_start.back() + length(unit));
  out->support = SupportTable(out->row_start.back(), width);
  return out;
}

Index position(const UnitMemory& memory, Index unit) {
  return std::lower_bound(memory.unit.begin(), memory.unit.end(), unit) - memory.unit.begin();
}

void copy(UnitMemory& out, Index i, const UnitMemory& from, Index j) {
  for (Index to = out.row_start[i], row = from.row_start[j]; to < out.row_start[i + 1]; ++to, ++row)
    std::copy_n(from.support.of(row), from.support.width, out.support.of(to));
}

}  // namespace

std::shared_ptr<UnitMemory> chain_memory(const Dataset& data, const std::vector<Index>& units, Index lag,
                                         Index width) {
  return made(units, width, [&](Index g) { return modelled_length(data, g, lag); });
}

void fill_set(const SupportTable& support, Index row, Index k, Index width, int* state) {
  const int *old = support.of(row), *end = old + support.width;
  Index n = 0;
  for (const int* j = old; j < end && n < width; ++j)
    if (*j >= 0) state[n++] = *j;
  for (int j = 0; n < width && j < k; ++j)
    if (std::find(old, end, j) == end) state[n++] = j;
  std::sort(state, state + width);
}

std::shared_ptr<const UnitMemory> part_of(const UnitMemory& memory, const std::vector<Index>& units) {
  const auto length = [&](Index unit) {
    const Index i = position(memory, unit);
    return memory.row_start[i + 1] - memory.row_start[i];
  };
  const auto out = made(units, memory.support.width, length);
  for (std::size_t i = 0; i < units.size(); ++i)
    copy(*out, static_cast<Index>(i), memory, position(memory, units[i]));
  return out;
}

std::shared_ptr<const UnitMemory> with_newer(const UnitMemory& memory, const UnitMemory& newer) {
  auto out = std::make_shared<UnitMemory>(memory);
  out->support = SupportTable(memory.row_start.back(), std::max(memory.support.width, newer.support.width));
  for (std::size_t i = 0; i < memory.unit.size(); ++i) {
    const Index here = static_cast<Index>(i), there = position(newer, memory.unit[i]);
    const bool touched = there < static_cast<Index>(newer.unit.size()) && newer.unit[there] == memory.unit[i];
    copy(*out, here, touched ? newer : memory, touched ? there : here);
  }
  return out;
}

}  // namespace bnpvi::chains
