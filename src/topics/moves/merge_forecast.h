// What a merge of two topics would gain, foretold from what is remembered of the documents.
#pragma once
#include "inference/moves/move.h"
#include "topics/model/topic_model.h"

namespace bnpvi::topics {

using TopicNumbers = std::pair<Index, Index>;  // the first is the smaller one

/// Of some pairs of a state, which must outlive it. Where documents add what they have of topics a and b,
/// keep the rest and lose no entropy, the ELBO changes by
///   U(a, b) = Λ(T_a + T_b) − Λ(T_a) − Λ(T_b) + [allocation terms at their new optimum − now],
/// for which no document has to be visited. Where no document uses both that is exact. Where some do, adding
/// alone brings less, for it loses entropy; but they are visited again, and may end above U.
class MergeForecast {
 public:
  MergeForecast(const MoveContext& context, const TopicAlloc& alloc, const State& state,
                const std::vector<TopicNumbers>& wanted);

  /// U of a wanted pair. Where it is foretold to be below `least` at the best sticks for that U is not
  /// searched for, and what it is at the present ones comes back, which is less.
  double gain(Index a, Index b, double least) const;
  bool shared(Index a, Index b) const;  // some document uses both

 private:
  void add_joint_tangents(Shares shares, double times, const double* local);

  const MoveContext& c_;
  const TopicAlloc& alloc_;
  const State& state_;
  std::vector<Index> wanted_;  // K × K: where a pair's numbers in joint_ begin; −1: it is not wanted
  const DocumentPriors priors_;
  const Index width_;  // of TopicExtra
  Vec joint_;          // of each pair: what documents that use both add and lose
  Vec evidence_;       // Λ of each topic that is wanted
  double present_;     // allocation terms
};

}  // namespace bnpvi::topics
