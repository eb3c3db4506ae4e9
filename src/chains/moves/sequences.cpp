#include "chains/moves/sequences.h"

#include <algorithm>

namespace bnpvi::chains {

Sequences::Sequences(const Source& source, std::vector<Index> numbers)
    : starts_(source.starts()), numbers_(std::move(numbers)) {
  const std::vector<Place> all = places_of_groups(source);
  std::vector<Place> places;
  for (Index g : numbers_) places.push_back(all[g]);
  sample_ = take_groups(source, places);
}

Stretch Sequences::local(const Stretch& s) const {
  const Index group = std::upper_bound(starts_.begin(), starts_.end(), s.begin) - starts_.begin() - 1;
  const Index at = std::lower_bound(numbers_.begin(), numbers_.end(), group) - numbers_.begin();
  const Index shift = sample_.data.starts[at] - starts_[group];
  return {s.begin + shift, s.end + shift};
}

}  // namespace bnpvi::chains
