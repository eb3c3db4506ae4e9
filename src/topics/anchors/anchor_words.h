// Topics from anchor words, each of which occurs in one topic only.
#pragma once
#include "topics/anchors/co_occurrence.h"

namespace bnpvi::topics {

/// At most k topics, fewer when the documents do not determine so many.
struct AnchorTopics {
  Index k = 0;
  Vec t;                   // k × (1 + d): number of tokens, and of each word; topics sum to the counts given
  std::vector<int> word;   // anchor of each topic, −1: a list of words that was given
  std::vector<int> given;  // the number of each such list, from 0, that is a topic: the first ones
};

/// Lists of words whose topics are sought first: all words of a list together are its anchor.
using AnchorLists = std::vector<std::vector<int>>;

/// Topics of counts of d words by anchor words [Arora, Ge, Halpern, Mimno, Moitra, Sontag, Wu and Zhu 2013].
/// Q_vw is the probability that two different tokens of a document are the words v and w. When each topic has
/// a word of its own, the rows of Q scaled to sum to 1 are mixtures of the anchors' rows:
///   1. anchors are rows far apart, by Gram–Schmidt with pivots, on a sparse random projection of the rows
///      estimated from two random halves of the documents, which tell signal from noise (far_apart.h);
///   2. the mixture of each word, p(topic | word), is the least-squares one, by exponentiated gradient.
/// clear: only anchors that stand out from noise, so that the data determine the number of topics, up to k.
/// given: anchors before all others, but for lists of which a half of the documents has no word; k with them.
/// Q is never formed; time grows with the counts times k and with d k², memory with d k.
AnchorTopics anchor_topics(const PartialCounts& documents, Index d, Index k, bool clear, Stream& stream,
                           Pool& pool, const AnchorLists& given = {});
AnchorTopics anchor_topics(DocumentSums& documents, Index d, Index k, bool clear, Stream& stream, Pool& pool,
                           const AnchorLists& given = {});

}  // namespace bnpvi::topics
