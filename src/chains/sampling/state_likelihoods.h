// Random draws of the parameters of states, and log-likelihoods of rows given these parameters.
#pragma once
#include "chains/model/sequence_rows.h"
#include "foundation/random.h"

namespace bnpvi::chains {

/// Calls f(begin, end) once for each sequence, whose rows are begin .. end − 1.
template <class F>
void for_sequences(const SequenceRows& rows, F f) {
  for (Index begin = 0, end; begin < rows.size(); begin = end) {
    for (end = begin + 1; end < rows.size() && !rows.first[end];) ++end;
    f(begin, end);
  }
}

SequenceRows all_sequences(const Dataset& data, Index lag);

class StateLikelihoods {
 public:
  /// rows: the rows of all sequences that have a likelihood.
  StateLikelihoods(const ObsModel& obs, const Dataset& data, const SequenceRows& rows, Pool& pool);

  /// The statistics of k states: for each the sum of the features φ(x) of its rows, k × p. label: state of
  /// each row.
  Vec statistics(const std::vector<int>& label, Index k);
  /// Draws the parameters of the states from their posterior. t, k × p: for each state the sum of the
  /// features of its rows.
  void draw(const Vec& t, Stream& stream);
  /// Log-likelihoods of rows begin .. end − 1 given the drawn parameters, rows × states. The entry is
  /// not_possible where the row's label excludes the class of the state. owner: class of each state; empty:
  /// no labels. The result is valid until the next call.
  double* of_rows(Index begin, Index end, const std::vector<int>& owner);

 private:
  const ObsModel& obs_;
  const SequenceRows& rows_;
  Pool& pool_;
  FeatureBlock block_;
  Weights parameters_;
  Vec log_e_;
};

}  // namespace bnpvi::chains
