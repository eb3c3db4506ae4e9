// Finds topics of documents of counts from anchor words: words that occur in one topic only.
#pragma once
#include "topics/anchors/co_occurrence.h"

namespace bnpvi::topics {

/// Topics found from anchor words (words that occur in one topic only). At most k topics; fewer if the
/// documents do not determine k. The statistics t of all topics add up to the statistic of all counts.
struct AnchorTopics {
  Index k = 0;
  Vec t;  // k × (1 + d): for each topic its number of tokens, then its number of tokens of each word
  std::vector<int> word;  // for each topic its anchor; −1: the topic comes from a given list of words
  // for each of the first topics, the number (from 0) of the given list that it comes from
  std::vector<int> given;
};

/// Lists of words given by the caller, which are the first anchors. The words of a list act together as one
/// anchor.
using AnchorLists = std::vector<std::vector<int>>;

/// Finds at most k topics in documents of counts of d words, from anchor words [Arora, Ge, Halpern, Mimno,
/// Moitra, Sontag, Wu and Zhu 2013]. Let Q_vw be the probability that two different tokens of a document are
/// the words v and w, and scale each row of Q so that it sums to 1. If each topic has an anchor (a word that
/// occurs in no other topic), every row is a mixture of the rows of the anchors.
///   1. Anchors are words whose rows are far apart. They are found by Gram–Schmidt with pivots on a sparse
///      random projection of the rows. Rows are estimated from two random halves of the documents, whose
///      difference tells signal from noise (far_apart.h).
///   2. The mixture of each word, p(topic | word), is found by least squares, with exponentiated gradient.
/// clear: use only anchors that stand out from noise; the data then determine the number of topics, up to k.
/// given: lists of words that become anchors before all others and count towards k. A list is left out if one
/// of the two halves has none of its words. Q is not stored. Time grows with k times the number of counts,
/// and with d k²; memory grows with d k.
AnchorTopics anchor_topics(const PartialCounts& documents, Index d, Index k, bool clear, Stream& stream,
                           Pool& pool, const AnchorLists& given = {});
AnchorTopics anchor_topics(DocumentSums& documents, Index d, Index k, bool clear, Stream& stream, Pool& pool,
                           const AnchorLists& given = {});

}  // namespace bnpvi::topics
