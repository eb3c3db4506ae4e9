#include "chains/chain_memory.h"

#include <algorithm>

#include "chains/sequence_rows.h"

namespace bnpvi::chains {

namespace {

// Where the rows of each sequence begin, of lengths given one by one.
template <class Length>
std::vector<Index> starts_of(const std::vector<Index>& units, Length length) {
  std::vector<Index> out{0};
  out.reserve(units.size() + 1);
  for (Index unit : units) out.push_back(out.back() + length(unit));
  return out;
}

}  // namespace

ChainMemory::ChainMemory(Index width, std::vector<Index> units, std::vector<Index> starts)
    : units_(std::move(units)), starts_(std::move(starts)), support_(starts_.back(), width) {}

ChainMemory::ChainMemory(const Dataset& data, const std::vector<Index>& units, Index lag, Index width)
    : ChainMemory(width, units, starts_of(units, [&](Index g) { return modelled_length(data, g, lag); })) {}

void ChainMemory::fill(Index row, Index k, Index width, int* state) const {
  const int* old = of(row);
  Index n = 0;
  for (Index l = 0; l < support_.width && n < width; ++l)
    if (old[l] >= 0) state[n++] = old[l];
  for (int j = 0; n < width && j < k; ++j)
    if (std::find(old, old + support_.width, j) == old + support_.width) state[n++] = j;
  std::sort(state, state + width);
}

Index ChainMemory::position(Index unit) const {
  return std::lower_bound(units_.begin(), units_.end(), unit) - units_.begin();
}

void ChainMemory::copy(Index i, const ChainMemory& from, Index j) {
  for (Index to = starts_[i], row = from.starts_[j]; to < starts_[i + 1]; ++to, ++row)
    std::copy_n(from.of(row), from.width(), of(to));
}

std::shared_ptr<const ChainMemory> ChainMemory::part(const std::vector<Index>& units) const {
  const auto length = [&](Index unit) { return starts_[position(unit) + 1] - starts_[position(unit)]; };
  std::shared_ptr<ChainMemory> out(new ChainMemory(width(), units, starts_of(units, length)));
  for (std::size_t i = 0; i < units.size(); ++i) out->copy(static_cast<Index>(i), *this, position(units[i]));
  return out;
}

std::shared_ptr<const ChainMemory> ChainMemory::with(const ChainMemory& newer) const {
  std::shared_ptr<ChainMemory> out(new ChainMemory(std::max(width(), newer.width()), units_, starts_));
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const Index here = static_cast<Index>(i), there = newer.position(units_[i]);
    const bool touched = there < static_cast<Index>(newer.units_.size()) && newer.units_[there] == units_[i];
    out->copy(here, touched ? newer : *this, touched ? there : here);
  }
  return out;
}

std::shared_ptr<const UnitMemory> ChainMemory::renumbered(const std::vector<Index>& number) const {
  auto out = std::make_shared<ChainMemory>(*this);
  out->support_.renumber(number);
  return out;
}

}  // namespace bnpvi::chains
