#include "observations/missing_pattern.h"

namespace bnpvi {

void IncompleteGroups::add(Index row, const MissingCells& missing) {
  if (groups_.empty() || groups_[last_].missing != missing) {
    const auto [known, is_new] = number_.emplace(missing, groups_.size());
    if (is_new) groups_.push_back({missing, {}});
    last_ = known->second;
  }
  groups_[last_].at.push_back(row);
}

}  // namespace bnpvi
