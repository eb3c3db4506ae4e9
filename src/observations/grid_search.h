// The search among the points of a grid.
#pragma once
#include <utility>

namespace bnpvi {

/// Goes from point to point while a neighbour has a higher `bound`, to the first such one each time. Of a
/// point `neighbours` gives where the search may go on; `tried`, given one of these and the bound that is to
/// be beaten, the point that is found there.
template <class Point, class Neighbours, class Tried>
Point best_of_grid(Point best, const Neighbours& neighbours, const Tried& tried) {
  for (bool found = true; found;) {
    found = false;
    for (auto& next : neighbours(std::as_const(best))) {
      Point trial = tried(std::move(next), best.bound);
      if (!(trial.bound > best.bound)) continue;
      best = std::move(trial);
      found = true;
      break;
    }
  }
  return best;
}

}  // namespace bnpvi
