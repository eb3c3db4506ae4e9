// Hill climbing on a grid: steps from point to point.
#pragma once
#include <optional>
#include <utility>

namespace bnpvi {

/// Finds a point of a grid that no single step improves: moves from `best` to a neighbour as long as that has
/// a higher `bound`. A successful step is repeated, and its inverse is not tried directly after it; the
/// search ends when all n_steps steps from the same point have failed. Steps 0 and 1, 2 and 3, ... are
/// inverses; if their number is odd, the last is its own inverse. after(point, step) returns the place to
/// which the step leads (std::optional, empty at the edge of the grid). tried(place, bound to exceed)
/// evaluates that place and returns it as a Point.
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
