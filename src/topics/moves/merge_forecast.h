// Forecasts the gain of merging two topics from the stored counts of the documents, without visiting them.
#pragma once
#include "inference/moves/move.h"
#include "topics/model/topic_model.h"

namespace bnpvi::topics {

using TopicNumbers = std::pair<Index, Index>;  // the first is the smaller one

/// Forecasts the gains of merging some pairs of topics of a state, which must outlive this object. If
/// documents add up their counts of topics a and b, keep the others and lose no entropy, the ELBO changes by
///   U(a, b) = Λ(T_a + T_b) − Λ(T_a) − Λ(T_b) + [allocation terms at their new optimum − now],
/// with Λ(T) the log evidence of a topic; no document has to be visited to compute U. The forecast is exact
/// if no document uses both topics. If some do, adding alone gains less than U, since it loses entropy; but a
/// merge visits these documents again, and may end above U.
class MergeForecast {
 public:
  MergeForecast(const MoveContext& context, const TopicAlloc& alloc, const State& state,
                const std::vector<TopicNumbers>& wanted);

  /// The forecast U of the gain of merging topics a and b. It needs a search for the optimal weights of
  /// topics (sticks). If even these would leave U below `least`, the search is saved, and the (smaller) value
  /// at the present weights is returned.
  double gain(Index a, Index b, double least) const;
  bool shared(Index a, Index b) const;  // does any document use both topics?

 private:
  void add_joint_tangents(Shares shares, double times, const double* local);

  const MoveContext& c_;
  const TopicAlloc& alloc_;
  const State& state_;
  std::vector<Index> wanted_;  // K × K: where the numbers of a pair begin in joint_; −1: not wanted
  const DocumentPriors priors_;
  const Index width_;  // numbers of TopicExtra for one topic
  Vec joint_;          // for each wanted pair: correction of TopicExtra by documents that use both
  Vec evidence_;       // Λ of each topic of a wanted pair
  double present_;     // allocation terms of the ELBO of the state
};

}  // namespace bnpvi::topics
