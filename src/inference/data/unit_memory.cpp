#include "inference/data/unit_memory.h"

#include <algorithm>

namespace bnpvi {

std::vector<int> UnitMemory::newborn(Index k) const {
  std::vector<int> out = born;
  for (Index j = known_k; j < k; ++j) out.push_back(static_cast<int>(j));
  return out;
}

UnitMemory UnitMemory::renumbered(const std::vector<Index>& number) const {
  UnitMemory out;
  out.support = support;
  out.support.renumber(number);
  out.shares = shares.renumbered(number);
  out.unit = unit;
  out.row_start = row_start;
  out.visits = visits;
  out.born = newborn(static_cast<Index>(number.size()));
  for (int& j : out.born) j = j < 0 ? -1 : static_cast<int>(number[j]);
  out.known_k = 1 + *std::max_element(number.begin(), number.end());
  return out;
}

void UnitMemory::write(Writer& out, bool weights) const {
  out.integer(support.width);
  out.list(support.cluster);
  shares.write(out, weights);
  out.list(unit);
  out.list(row_start);
  out.integer(known_k);
  out.list(born);
  out.integer(visits);
}

UnitMemory UnitMemory::read(Reader& in, const std::shared_ptr<const Weights>& weights) {
  UnitMemory out;
  out.support.width = in.integer();
  out.support.cluster = in.list<std::vector<int>>();
  out.shares = ShareTable::read(in, weights);
  out.unit = in.list<std::vector<Index>>();
  out.row_start = in.list<std::vector<Index>>();
  out.known_k = in.integer();
  out.born = in.list<std::vector<int>>();
  out.visits = in.integer();
  return out;
}

}  // namespace bnpvi
