// Draws the state of one row at a time, given the states of all other rows.
#pragma once
#include "chains/model/sequence_rows.h"
#include "chains/sampling/path_prior.h"
#include "chains/sampling/state_classes.h"
#include "sampling/cluster_draws.h"

namespace bnpvi::chains {

/// Draws the state of one row of a sequence at a time, given the states of all other rows. The prior odds of
/// a state are the product of two predictive probabilities: of the transition from the row before, and of the
/// transition to the next row (1 if there is none). They are 0 for a state whose class is excluded by the
/// row's label.
class PathDraws final : public ClusterDraws {
 public:
  /// Keeps references to all arguments. urns: statistics of the states. Labels, counts, classes, weights and
  /// urns must describe the same path; they still do after each draw. A row that is in no state has label −1.
  PathDraws(const SequenceRows& rows, const PathPrior& prior, const std::vector<int>& label,
            TransitionCounts& counts, StateWeights& weight, StateClasses& classes, ObservationUrns& urns,
            Pool& pool);

  /// False if row t cannot be in any state, because of labels or because of a limit on the number of states.
  bool may_place(Index t) const;

  /// The sum of the prior odds of row t over all states, for a row whose next row has no state yet.
  double odds_of_any(Index t) const { return prior_.mass(row_into(t)) + count(row_into(t)); }

 private:
  void find_odds(Index t, Vec& odds) const override;
  void joins(Index t, Index to, Stream& stream) override;
  void leaves(Index t, Index from) override;
  void dropped(Index j) override;

  void count_row(Index t, Index state, Index times);
  double count(Index row) const { return static_cast<double>(counts_.sum(row)); }
  Index row_into(Index t) const { return rows_.first[t] ? start_row : row_after(label_[t - 1]); }
  // The state of the next row of the sequence; −1 for the last row.
  Index state_after(Index t) const {
    return t + 1 < rows_.size() && !rows_.first[t + 1] ? label_[t + 1] : -1;
  }

  const SequenceRows& rows_;
  const PathPrior& prior_;
  const std::vector<int>& label_;
  TransitionCounts& counts_;
  StateWeights& weight_;
  StateClasses& classes_;
};

}  // namespace bnpvi::chains
