// Starts of topics of counts.
#include <algorithm>

#include "observations/named_clusters.h"
#include "topics/anchors/anchor_words.h"
#include "topics/anchors/anchor_work.h"
#include "topics/model/topic_model.h"

namespace bnpvi::topics {

// Topics with names come first, in addition to the k.
Summary TopicAlloc::own_start(const Problem& problem, Index k, Stream& stream, Pool& pool) const {
  constexpr Index most = Index{1} << 16;  // documents of which a copy is made: a guess
  const Source& source = problem.source;
  const Index d = source.shape().d;
  AnchorLists given;
  if (const NamedClusters* names = problem.obs->capabilities().names)
    for (int s = 1; s <= names->n_names(); ++s) given.push_back(names->columns_of(s));
  Index all = k + static_cast<Index>(given.size());
  if (fixed_k() > 0) all = std::min(all, fixed_k());
  AnchorTopics topics;
  if (source.shape().n_groups > most) {
    SumsOfBatches sums(problem, pool);
    topics = anchor_topics(sums, d, all, false, stream, pool, given);
  } else {
    const Sample sample = take_groups(source, places_of_groups(source));
    topics = anchor_topics(all_counts(sample.data), d, all, false, stream, pool, given);
  }
  Summary out(shape(problem.obs), std::max<Index>({topics.k, fixed_k(), 1}));
  std::copy(topics.t.begin(), topics.t.end(), out.edit_t(0));
  if (!given.empty()) out.names.of.assign(static_cast<std::size_t>(out.k), 0);
  for (std::size_t j = 0; j < topics.given.size(); ++j) out.names.of[j] = topics.given[j] + 1;
  return out;
}

}  // namespace bnpvi::topics
