// Parameters of states that are drawn, and likelihoods of rows under them.
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
  /// rows: of all sequences.
  StateLikelihoods(const ObsModel& obs, const Dataset& data, const SequenceRows& rows, Pool& pool);

  /// T of k states, rows having these labels: k × p.
  Vec statistics(const std::vector<int>& label, Index k);
  /// Draws the parameters of the states given their T (k × p).
  void draw(const Vec& t, Stream& stream);
  /// log p(x | parameters) of rows begin .. end − 1, a row for each; not_possible in states whose class
  /// (owner of each state; empty: none) their labels rule out. Stays until the next call.
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
