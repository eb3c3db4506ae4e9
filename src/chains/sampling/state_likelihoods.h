// Random draws of the parameters of states, and log-likelihoods of rows given these parameters.
#pragma once
#include "chains/model/sequence_rows.h"
#include "foundation/random.h"

namespace bnpvi::chains {

/// Calls f(begin, end) with the range of rows of each sequence.
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
  /// rows: the modelled rows (rows with a likelihood) of all sequences.
  StateLikelihoods(const ObsModel& obs, const Dataset& data, const SequenceRows& rows, Pool& pool);

  /// Sums T of the features φ(x) of the rows of each of k states, k × p. label: state of each row.
  Vec statistics(const std::vector<int>& label, Index k);
  /// Draws the parameters of the states from their posterior given t, the sums of features of their rows (k ×
  /// p).
  void draw(const Vec& t, Stream& stream);
  /// Log-likelihoods of rows begin .. end − 1 given the drawn parameters, rows × states; not_possible in
  /// states whose class a row's label excludes. owner: class of each state; empty: no labels. The result is
  /// valid until the next call.
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
