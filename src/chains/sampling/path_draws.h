// States of single rows of paths, drawn given those of all other rows.
#pragma once
#include "chains/model/sequence_rows.h"
#include "chains/sampling/path_prior.h"
#include "chains/sampling/state_classes.h"
#include "sampling/cluster_draws.h"

namespace bnpvi::chains {

/// The odds of a state are those of the transitions into a row and, where there is a next row, out of it; 0
/// of a state whose class a label rules out.
class PathDraws final : public ClusterDraws {
 public:
  /// Refers to all of these. Labels, counts, classes and weights must agree with the urns, and do so after
  /// each draw; rows that are in no urn have label −1.
  PathDraws(const SequenceRows& rows, const PathPrior& prior, const std::vector<int>& label,
            TransitionCounts& counts, StateWeights& weight, StateClasses& classes, ObservationUrns& urns,
            Pool& pool);

  /// False where labels and a limit of the number of states leave no state for row t.
  bool may_place(Index t) const;

  /// What the odds of row t sum up to, if the next row is in no state.
  double odds_of_any(Index t) const { return prior_.mass(row_into(t)) + count(row_into(t)); }

 private:
  void find_odds(Index t, Vec& odds) const override;
  void joins(Index t, Index to, Stream& stream) override;
  void leaves(Index t, Index from) override;
  void dropped(Index j) override;

  void count_row(Index t, Index state, Index times);
  double count(Index row) const { return static_cast<double>(counts_.sum(row)); }
  Index row_into(Index t) const { return rows_.first[t] ? start_row : row_after(label_[t - 1]); }
  // The state of the next row of the sequence; −1 in the last.
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
