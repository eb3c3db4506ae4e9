// Proposals that divide a state of a path or join two.
#pragma once
#include "chains/model/sequence_rows.h"
#include "chains/sampling/path_prior.h"
#include "chains/sampling/state_classes.h"
#include "sampling/row_features.h"
#include "sampling/urns.h"

namespace bnpvi::chains {

/// Splits and merges as those of mixtures [Dahl 2005]: two rows are drawn; are they in one state, each begins
/// a state of its own, and the other rows of theirs join either, by the probability that they have given
/// those before and by where the rows beside them in time are; are they in two, the union is proposed. Rows
/// near the first two in time come first, since they belong to them most often. A split divides the weight as
/// well, with v ~ Beta(c_0, c_1), c_h the number of rows of transitions that lead to part h. With the density
/// f of PathPrior::log_probability() and Q the probability of the division, splits are accepted by
///   f(new) / f(old) · Λ's / [Q v (1 − v) q(v)],
/// β_a / (v β_a (1 − v) β_a) being the change of f's measure and β_a the Jacobian; of a finite model v is ½
/// and has no law.
class PathSplitMerge {
 public:
  /// Changes urns, label, counts, weight and classes, which must agree; at least 2 rows.
  PathSplitMerge(const RowFeatures& features, const SequenceRows& rows, const PathPrior& prior, Urns& urns,
                 std::vector<int>& label, TransitionCounts& counts, StateWeights& weight,
                 StateClasses& classes);

  /// Draws two rows and makes one proposal; true when it was accepted.
  bool propose(Stream& stream);

 private:
  bool split(Index first, Index second, Stream& stream);
  bool merge(Index first, Index second, Stream& stream);
  // The rows of states a and b (which may be a), by their distance in time from the first two.
  std::vector<Index> members(Index a, Index b, Index first, Index second) const;
  // Divides rows between urns 0 and 1 of pair_, which begin with one of the first two each; `side` says where
  // a row goes by the log probability of urn 1. side_ has the result, −1 elsewhere. Returns log Q, or some
  // value below `least` when it falls below that.
  template <class Side>
  double divide(const std::vector<Index>& rows, double least, Side side);
  // log[v (1 − v) q(v)] for parts a and b of these counts.
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
  std::vector<signed char> side_;  // of each row
  Vec phi_;
};

}  // namespace bnpvi::chains
