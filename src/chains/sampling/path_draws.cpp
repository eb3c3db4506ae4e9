#include "chains/sampling/path_draws.h"

namespace bnpvi::chains {

PathDraws::PathDraws(const SequenceRows& rows, const PathPrior& prior, const std::vector<int>& label,
                     TransitionCounts& counts, StateWeights& weight, StateClasses& classes,
                     ObservationUrns& urns, Pool& pool)
    : ClusterDraws(urns, pool),
      rows_(rows),
      prior_(prior),
      label_(label),
      counts_(counts),
      weight_(weight),
      classes_(classes) {}

bool PathDraws::may_place(Index t) const {
  bool any = weight_.back() > 0;
  for (Index j = 0; j < counts_.k() && !any; ++j) any = classes_.allows(t, j);
  return any;
}

void PathDraws::find_odds(Index t, Vec& odds) const {
  const Index k = counts_.k(), row = row_into(t), after = state_after(t);
  for (Index j = 0; j <= k; ++j) {
    odds[j] = classes_.allows(t, j)
                  ? prior_.mass(row, j, weight_) + (j < k ? static_cast<double>(counts_(row, j)) : 0)
                  : 0;
    if (after < 0) continue;
    // The step into j is one more from row j where the row before is in j, too.
    const double from_j = row == row_after(j) ? 1 : 0;
    double into = prior_.mass(row_after(j), after, weight_), all = prior_.mass(row_after(j)) + from_j;
    if (j < k) {
      into += static_cast<double>(counts_(row_after(j), after)) + (after == j ? from_j : 0);
      all += count(row_after(j));
    }
    odds[j] *= into / all;
  }
}

void PathDraws::joins(Index t, Index to, Stream& stream) {
  if (to == counts_.k()) {
    prior_.break_weight(weight_, stream);
    counts_.open();
    classes_.open();
  }
  count_row(t, to, 1);
  classes_.add(t, to, 1);
}

void PathDraws::leaves(Index t, Index from) {
  count_row(t, from, -1);
  classes_.add(t, from, -1);
}

void PathDraws::dropped(Index j) {
  counts_.drop(j);
  classes_.drop(j);
  PathPrior::return_weight(weight_, j);
}

void PathDraws::count_row(Index t, Index state, Index times) {
  const Index after = state_after(t);
  counts_.add(row_into(t), state, times);
  if (after >= 0) counts_.add(row_after(state), after, times);
}

}  // namespace bnpvi::chains
