// One step of beam sampling.
#pragma once
#include "chains/sampling/path_prior.h"
#include "chains/sampling/state_classes.h"
#include "chains/sampling/state_likelihoods.h"

namespace bnpvi::chains {

/// Draws the states of all rows given weights and concentrations, sequence by sequence as a whole [Van Gael
/// et al. 2008]: transition probabilities and parameters of states given the present path; a slice under the
/// probability of each of its steps (path_filter.h); as many states more as any slice can reach; a path given
/// all these. Where that takes more than `most_new` states the path stays as it is.
class Beam {
 public:
  static constexpr Index most_new = 1024;  // takes half a million random numbers a sweep

  /// rows: of all sequences.
  Beam(const ObsModel& obs, const Dataset& data, const SequenceRows& rows, Pool& pool);

  /// Changes label (states 0 .. K − 1, all in use) and weight; counts and classes are those of the labels
  /// before. In the end states are 0 .. K' − 1, all in use, weight has K' + 1 numbers, and classes are of no
  /// use. False when nothing changed because of most_new.
  bool step(const PathPrior& prior, const TransitionCounts& counts, std::vector<int>& label,
            StateWeights& weight, StateClasses& classes, Stream& stream);

 private:
  void draw_rows(const PathPrior& prior, const TransitionCounts& counts, const StateWeights& weight,
                 Stream& stream);
  // Given its counts; null: none.
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
  std::vector<Vec> log_rows_;                 // log π_jk, K + 1 rows
  Vec log_rest_;                              // of all other states, K + 1
  Vec log_slice_;                             // of each row
  double least_first_ = 0, least_later_ = 0;  // of first rows, and of others
};

/// Drops states that no row is in, whose weight goes to the others; the order of those that stay is kept.
void drop_unused(std::vector<int>& label, StateWeights& weight);

}  // namespace bnpvi::chains
