#include "inference/data/row_places.h"

#include <algorithm>
#include <numeric>

namespace bnpvi {

template <class Visit>
void RowPlaces::for_each_row(Visit visit) const {
  for (Index b = 0; b < source_.n_batches(); ++b) {
    const auto batch = source_.open(b);
    for (Index row : modelled_rows(*batch, grouped_, lag_)) visit(batch->row_number(row), Place{b, row});
  }
}

RowPlaces::RowPlaces(const Source& source, bool grouped, Index lag)
    : source_(source), grouped_(grouped), lag_(lag), has_(static_cast<std::size_t>(source.shape().n)) {
  for_each_row([&](Index number, const Place&) {
    has_[number] = true;
    ++n_;
  });
}

std::vector<Place> RowPlaces::at(const std::vector<Index>& positions) const {
  std::vector<std::size_t> order(positions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t x, std::size_t y) { return positions[x] < positions[y]; });
  std::vector<bool> wanted(has_.size());
  std::vector<Index> number;  // numbers of the rows at these positions, ascending
  Index position = 0;
  std::size_t next = 0;
  for (Index row = 0; next < order.size() && row < static_cast<Index>(has_.size()); ++row) {
    if (!has_[row]) continue;
    for (; next < order.size() && positions[order[next]] == position; ++next) {
      wanted[row] = true;
      number.push_back(row);
    }
    ++position;
  }
  std::vector<Place> out(positions.size());
  for_each_row([&](Index row, const Place& place) {
    if (!wanted[row]) return;
    const auto same = std::equal_range(number.begin(), number.end(), row);
    for (auto i = same.first; i != same.second; ++i) out[order[i - number.begin()]] = place;
  });
  return out;
}

}  // namespace bnpvi
