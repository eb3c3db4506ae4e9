// One step of beam sampling, which draws the states of whole sequences of a hidden Markov model.
#pragma once
#include "chains/sampling/path_prior.h"
#include "chains/sampling/state_classes.h"
#include "chains/sampling/state_likelihoods.h"

namespace bnpvi::chains {

/// Draws the states of all rows given weights and concentrations, each sequence as a whole [Van Gael et al.
/// 2008]. A step draws, in turn: the transition probabilities and the parameters of states given the present
/// path; a slice (random lower limit) for the probability of each transition of the path (path_filter.h); as
/// many additional states as any slice can reach; and a new path given all these. If more than `most_new`
/// additional states would be needed, the path stays as it is.
class Beam {
 public:
  // largest number of new states in a step; this many need half a million random numbers
  static constexpr Index most_new = 1024;

  /// rows: the modelled rows (rows with a likelihood) of all sequences.
  Beam(const ObsModel& obs, const Dataset& data, const SequenceRows& rows, Pool& pool);

  /// Draws a new state for every row. label: states 0 .. K − 1, all in use, on entry; 0 .. K' − 1, all in
  /// use, on return. weight: weights of the states; has K' + 1 numbers on return. On entry counts and classes
  /// must be those of the labels. On return classes must be computed anew. Returns false if nothing changed
  /// because of most_new.
  bool step(const PathPrior& prior, const TransitionCounts& counts, std::vector<int>& label,
            StateWeights& weight, StateClasses& classes, Stream& stream);

 private:
  void draw_rows(const PathPrior& prior, const TransitionCounts& counts, const StateWeights& weight,
                 Stream& stream);
  // Draws the transition probabilities from one row of the transition matrix (0: the start; 1 + j: state j).
  // count: the present number of transitions from it to each state; null: it has none.
  void draw_row(const PathPrior& prior, const StateWeights& weight, Index row, const Index* count,
                Stream& stream);
  void draw_slices(const std::vector<int>& label, Stream& stream);
  bool open_states(const PathPrior& prior, StateWeights& weight, Stream& stream);
  void forget(const std::vector<char>& known, StateWeights& weight);
  void draw_paths(std::vector<int>& label, StateClasses& classes, Stream& stream);
  Index k() const { return static_cast<Index>(log_rows_.size()) - 1; }

  const SequenceRows& rows_;
  Pool& pool_;
  StateLikelihoods likelihoods_;
  std::vector<Vec> log_rows_;  // log transition probabilities from the start and from each state, K + 1 rows
  // for each of the same K + 1 rows, log probability of all states not in use together
  Vec log_rest_;
  Vec log_slice_;  // logarithm of the slice of each row of data
  // smallest log slice among first rows of sequences, and among all other rows
  double least_first_ = 0, least_later_ = 0;
};

/// Drops states without rows and adds their weights to the last weight, that of all states not in use. The
/// order of the remaining states is kept.
void drop_unused(std::vector<int>& label, StateWeights& weight);

}  // namespace bnpvi::chains
