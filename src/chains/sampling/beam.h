// One step of beam sampling, which draws the states of whole sequences of a hidden Markov model.
#pragma once
#include "chains/sampling/path_prior.h"
#include "chains/sampling/state_classes.h"
#include "chains/sampling/state_likelihoods.h"

namespace bnpvi::chains {

/// Draws new states for all rows, each sequence as a whole [Van Gael et al. 2008]. The weights of states and
/// the concentrations are given. One step draws, in this order: the transition probabilities and the
/// parameters of the states, given the present path; a slice (random lower limit) for the probability of each
/// transition of the path (path_filter.h); new states, as many as transitions above the slices can reach; and
/// a new path given all these. If this needs more than `most_new` new states, the path stays as it is.
class Beam {
 public:
  // the largest number of new states in a step; so many need half a million random numbers
  static constexpr Index most_new = 1024;

  /// rows: the rows of all sequences that have a likelihood.
  Beam(const ObsModel& obs, const Dataset& data, const SequenceRows& rows, Pool& pool);

  /// Draws a new state for every row. label: state of each row. On entry states 0 .. K − 1, on return states
  /// 0 .. K' − 1; each of them has rows. weight: weights of the states and, last, of all states not in use;
  /// K' + 1 numbers on return. counts and classes must be those of the labels on entry. On return the caller
  /// must compute both anew. Returns false if nothing changed because more than most_new new states were
  /// needed.
  bool step(const PathPrior& prior, const TransitionCounts& counts, std::vector<int>& label,
            StateWeights& weight, StateClasses& classes, Stream& stream);

 private:
  void draw_rows(const PathPrior& prior, const TransitionCounts& counts, const StateWeights& weight,
                 Stream& stream);
  // Draws the transition probabilities in one row of the transition matrix (0: the start; 1 + j: out of state
  // j). count: number of transitions of the present path in this row, to each state; null: there are none.
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
  // for each row of log_rows_, the log of the summed transition probability to all states that are not in use
  Vec log_rest_;
  Vec log_slice_;  // logarithm of the slice of each row of data
  // smallest log slice among first rows of sequences, and among all other rows
  double least_first_ = 0, least_later_ = 0;
};

/// Drops states without rows. Their weights are added to the last weight, which belongs to all states not in
/// use. The other states keep their order.
void drop_unused(std::vector<int>& label, StateWeights& weight);

}  // namespace bnpvi::chains
