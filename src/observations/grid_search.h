// The search among the points of a grid.
#pragma once
#include <optional>
#include <utility>

namespace bnpvi {

/// Goes from point to point while a step leads to a higher `bound`. A step that did is repeated, and its
/// inverse is not tried next to it; ends when each step has failed from the same point. Steps 0 and 1, 2 and
/// 3 … undo each other; the last of an odd number undoes itself. `after`, given a point and a step, is where
/// the step leads (std::optional, empty where the grid ends); `tried`, given that and the bound that is to be
/// beaten, the point that is found there.
template <class Point, class After, class Tried>
Point best_of_grid(Point best, int n_steps, const After& after, const Tried& tried) {
  const auto inverse_of = [&](int step) { return (step ^ 1) < n_steps ? step ^ 1 : step; };
  int step = 0, last = n_steps;
  for (int failed = 0; failed < n_steps;) {
    if (inverse_of(step) != last) {
      if (auto next = after(std::as_const(best), step)) {
        Point trial = tried(std::move(*next), best.bound);
        if (trial.bound > best.bound) {
          best = std::move(trial);
          last = step;
          failed = 0;
          continue;
        }
      }
    }
    ++failed;
    step = (step + 1) % n_steps;
  }
  return best;
}

}  // namespace bnpvi
