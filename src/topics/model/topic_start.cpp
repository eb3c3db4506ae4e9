// Where topics of counts start.
#include <algorithm>

#include "topics/anchors/anchor_words.h"
#include "topics/anchors/anchor_work.h"
#include "topics/model/topic_model.h"

namespace bnpvi::topics {

Summary TopicAlloc::own_start(const Problem& problem, Index k, Stream& stream, Pool& pool) const {
  constexpr Index most = Index{1} << 16;  // documents of which a copy is made: a guess
  const Source& source = problem.source;
  const Index d = source.shape().d;
  AnchorTopics topics;
  if (source.shape().n_groups > most) {
    SumsOfBatches sums(problem, pool);
    topics = anchor_topics(sums, d, k, false, stream, pool);
  } else {
    const Sample sample = take_groups(source, places_of_groups(source));
    topics = anchor_topics(all_counts(sample.data), d, k, false, stream, pool);
  }
  Summary out(shape(problem.obs), std::max<Index>({topics.k, fixed_k(), 1}));
  std::copy(topics.t.begin(), topics.t.end(), out.edit_t(0));
  return out;
}

}  // namespace bnpvi::topics
