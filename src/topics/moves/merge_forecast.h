// Forecasts the gain of merging two topics from the stored counts of the documents, without visiting them.
#pragma once
#include "inference/moves/move.h"
#include "topics/model/topic_model.h"

namespace bnpvi::topics {

using TopicNumbers = std::pair<Index, Index>;  // the first is the smaller one

/// Forecasts the gain of merging two topics, for some pairs of topics. No document has to be visited. Suppose
/// that each document adds up its counts of topics a and b, keeps all other counts and loses no entropy. Then
/// the ELBO changes by
///   U(a, b) = Λ(T_a + T_b) − Λ(T_a) − Λ(T_b) + [allocation terms at their new optimum − now],
/// where Λ(T) is the log evidence of a topic with statistics T. U is exact if no document uses both topics. A
/// document that uses both loses entropy when its counts are added, so adding alone gains less than U. But a
/// merge visits such documents again, and may end above U. The state must outlive this object.
class MergeForecast {
 public:
  MergeForecast(const MoveContext& context, const TopicAlloc& alloc, const State& state,
                const std::vector<TopicNumbers>& wanted);

  /// The forecast U(a, b) of the gain of merging topics a and b. It needs a search for the optimal weights of
  /// topics. If even optimal weights cannot raise U to `least`, the function skips the search, and returns
  /// the smaller value at the present weights.
  double gain(Index a, Index b, double least) const;
  bool shared(Index a, Index b) const;  // true if a document uses both topics

 private:
  void add_joint_tangents(Shares shares, double times, const double* local);

  const MoveContext& c_;
  const TopicAlloc& alloc_;
  const State& state_;
  // K × K: where the numbers of a pair begin in joint_; −1: no forecast is wanted for the pair
  std::vector<Index> wanted_;
  const DocumentPriors priors_;
  const Index width_;  // how many numbers TopicExtra has for each topic
  Vec joint_;          // for each wanted pair: correction of TopicExtra for documents that use both topics
  Vec evidence_;       // Λ of each topic of a wanted pair
  double present_;     // allocation terms of the ELBO of the state
};

}  // namespace bnpvi::topics
