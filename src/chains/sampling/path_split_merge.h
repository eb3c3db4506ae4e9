// Proposals of a sampler that divide a state of a path in two or join two states.
#pragma once
#include "chains/model/sequence_rows.h"
#include "chains/sampling/path_prior.h"
#include "chains/sampling/state_classes.h"
#include "sampling/row_features.h"
#include "sampling/urns.h"

namespace bnpvi::chains {

/// Split and merge proposals as for mixtures [Dahl 2005]. Each proposal draws two rows. If both are in the
/// same state, a split is proposed. Each of the two rows begins a new state, and the other rows of the old
/// state join one of the two, one row after the other. The probability depends on the row's predictive
/// density in both states, and on which of the two its neighbours in time have joined. Rows near the first
/// two in time come first, since they most often belong with them. If the two rows are in different states,
/// the merge of the two states is proposed.
///
/// A split also divides the weight β_a of the state into v β_a and (1 − v) β_a. Here v ~ Beta(c_0, c_1) with
/// density q, and c_h is the number of states (the start included) with transitions to part h. Let f be the
/// density whose logarithm is PathPrior::log_probability(), Λ the log evidence of all rows given their
/// states, and Q the probability of the division of the rows. The acceptance ratio of a split is
///   f(new) / f(old) · exp(Λ(new) − Λ(old)) / [Q v (1 − v) q(v)].
/// The factor v (1 − v) has two sources: β_a / (v β_a (1 − v) β_a) is the change of the measure of f, and β_a
/// is the Jacobian. In a model with at most M states v = ½ is not drawn, and the factors with v are missing.
class PathSplitMerge {
 public:
  /// Keeps references to all arguments. urns: statistics of the states. A proposal changes urns, label,
  /// counts, weight and classes, which must describe the same path on entry. There must be at least 2 rows.
  PathSplitMerge(const RowFeatures& features, const SequenceRows& rows, const PathPrior& prior, Urns& urns,
                 std::vector<int>& label, TransitionCounts& counts, StateWeights& weight,
                 StateClasses& classes);

  /// Draws two rows and makes one proposal; returns true if it was accepted.
  bool propose(Stream& stream);

 private:
  bool split(Index first, Index second, Stream& stream);
  bool merge(Index first, Index second, Stream& stream);
  // All rows of states a and b (b may equal a): first the rows `first` and `second`, then the others in
  // ascending order of their distance in time from these two.
  std::vector<Index> members(Index a, Index b, Index first, Index second) const;
  // Divides rows between two new states, urns 0 and 1 of pair_. Each urn starts with one of the two rows that
  // were drawn. side(row, log probability of urn 1): decides to which urn a row goes. side_ receives the urn
  // of each row, and −1 for rows that are not divided. Returns log Q, the log probability of the division.
  // Once it is below `least`, the function may stop and return any value below `least`.
  template <class Side>
  double divide(const std::vector<Index>& rows, double least, Side side);
  // The logarithm of v (1 − v) q(v), a factor in the acceptance ratio of a split of a state into parts a and
  // b. v: fraction of the state's weight β that goes to one part; q: the Beta density from which v is drawn;
  // log_v = log v; log_rest = log(1 − v). counts: transitions after the split.
  double log_of_share(const TransitionCounts& counts, Index a, Index b, double log_v, double log_rest) const;
  static double sources(const TransitionCounts& counts, Index state);

  const RowFeatures& features_;
  const SequenceRows& rows_;
  const PathPrior& prior_;
  Urns& urns_;
  std::vector<int>& label_;
  TransitionCounts& counts_;
  StateWeights& weight_;
  StateClasses& classes_;
  Urns pair_;
  // for each row, its part (urn) in the split, 0 or 1; −1: the row is not divided
  std::vector<signed char> side_;
  Vec phi_;
};

}  // namespace bnpvi::chains
