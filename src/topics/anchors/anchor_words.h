// Finds topics of documents of counts from anchor words: words that occur in one topic only.
#pragma once
#include "topics/anchors/co_occurrence.h"

namespace bnpvi::topics {

/// Topics found from anchor words: at most k, fewer when the documents do not determine as many. The
/// statistics t of the topics add up to the statistic of all counts.
struct AnchorTopics {
  Index k = 0;
  Vec t;                   // k × (1 + d): of each topic the number of tokens, then of tokens of each word
  std::vector<int> word;   // anchor of each topic; −1: one of the given lists of words
  std::vector<int> given;  // for the first topics: the number, from 0, of the given list that each comes from
};

/// Lists of words that the caller gives; their topics are found first. All words of a list together act as
/// one anchor.
using AnchorLists = std::vector<std::vector<int>>;

/// Finds at most k topics of documents of counts of d words, by anchor words [Arora, Ge, Halpern, Mimno,
/// Moitra, Sontag, Wu and Zhu 2013]. Let Q_vw be the probability that two different tokens of a document are
/// the words v and w. When each topic has a word that no other topic has (its anchor), the rows of Q scaled
/// to sum to 1 are mixtures of the anchors' rows:
///   1. anchors are rows far apart, by Gram–Schmidt with pivots, on a sparse random projection of the rows
///      estimated from two random halves of the documents, which separate signal from noise (far_apart.h);
///   2. the mixture of each word, p(topic | word), is found by least squares, with exponentiated gradient.
/// clear: only anchors that stand out from noise, so that the data determine the number of topics, up to k.
/// given: lists of words that become anchors before all others and count towards k, except lists none of
/// whose words occurs in one of the two halves. Q is never formed; time grows with the number of counts times
/// k and with d k², memory with d k.
AnchorTopics anchor_topics(const PartialCounts& documents, Index d, Index k, bool clear, Stream& stream,
                           Pool& pool, const AnchorLists& given = {});
AnchorTopics anchor_topics(DocumentSums& documents, Index d, Index k, bool clear, Stream& stream, Pool& pool,
                           const AnchorLists& given = {});

}  // namespace bnpvi::topics
