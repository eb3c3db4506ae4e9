// Proposals of a sampler that divide a state of a path in two or join two states.
#pragma once
#include "chains/model/sequence_rows.h"
#include "chains/sampling/path_prior.h"
#include "chains/sampling/state_classes.h"
#include "sampling/row_features.h"
#include "sampling/urns.h"

namespace bnpvi::chains {

/// Split and merge proposals as for mixtures [Dahl 2005]. Two rows are drawn. If both are in one state, each
/// begins a new state, and the other rows of that state join one of the two in turn, with a probability that
/// depends on its predictive density in both and on the parts of its neighbours in time. If the two rows are
/// in different states, the union of the states is proposed. Rows near the first two in time are placed
/// first, since they most often belong with them.
///
/// A split also divides the weight β_a of the state into v β_a and (1 − v) β_a. Here v ~ Beta(c_0, c_1) with
/// density q, and c_h is the number of states (or the start) from which transitions lead to part h. Let f be
/// the density of PathPrior::log_probability(), Λ the log evidence of all rows given their states, and Q the
/// probability of the division. The acceptance ratio of a split is
///   f(new) / f(old) · exp(Λ(new) − Λ(old)) / [Q v (1 − v) q(v)],
/// where β_a / (v β_a (1 − v) β_a) is the change of the measure of f and β_a the Jacobian. In a finite model
/// v = ½ is not drawn, and its factors are missing.
class PathSplitMerge {
 public:
  /// Keeps references to all arguments. Proposals change urns (statistics of the states), label, counts,
  /// weight and classes, which must agree on entry. There must be at least 2 rows.
  PathSplitMerge(const RowFeatures& features, const SequenceRows& rows, const PathPrior& prior, Urns& urns,
                 std::vector<int>& label, TransitionCounts& counts, StateWeights& weight,
                 StateClasses& classes);

  /// Draws two rows and makes one proposal; returns true if it was accepted.
  bool propose(Stream& stream);

 private:
  bool split(Index first, Index second, Stream& stream);
  bool merge(Index first, Index second, Stream& stream);
  // All rows of states a and b (b may equal a): `first` and `second`, then the others by distance in time
  // from them.
  std::vector<Index> members(Index a, Index b, Index first, Index second) const;
  // Divides rows between two new states: urns 0 and 1 of pair_, each of which starts with one of the two rows
  // that were drawn. side(row, log probability of urn 1) decides where a row goes. side_: receives the urn of
  // each row, −1 for all other rows. Returns log Q, the log probability of the division. Once it falls below
  // `least`, any value below `least` may be returned.
  template <class Side>
  double divide(const std::vector<Index>& rows, double least, Side side);
  // The logarithm of v (1 − v) q(v) in the acceptance ratio of a split of a state into parts a and b with
  // these counts. v is the fraction of the state's weight β that goes to one part, q the Beta density from
  // which it is drawn; log_v = log v, log_rest = log(1 − v).
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
  // for each row the number of its part (urn) in the split, 0 or 1; −1: the row is not in the split
  std::vector<signed char> side_;
  Vec phi_;
};

}  // namespace bnpvi::chains
