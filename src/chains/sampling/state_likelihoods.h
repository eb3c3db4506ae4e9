// Draws of the parameters of states, and likelihoods of rows under them.
#pragma once
#include "chains/model/sequence_rows.h"
#include "foundation/random.h"

namespace bnpvi::chains {

/// Calls f(begin, end) for each sequence.
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
  /// rows: the modelled rows of all sequences.
  StateLikelihoods(const ObsModel& obs, const Dataset& data, const SequenceRows& rows, Pool& pool);

  /// Statistics T of k states, k × p; label: state of each row.
  Vec statistics(const std::vector<int>& label, Index k);
  /// Draws the parameters of the states given their T (k × p).
  void draw(const Vec& t, Stream& stream);
  /// log p(x | parameters) of rows begin .. end − 1 under each state, rows × states; not_possible in states
  /// whose class a row's label excludes (owner: class of each state; empty: no labels). Valid until the next
  /// call.
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
