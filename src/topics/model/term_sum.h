// Statistics of topics from documents of counts that were all visited under the same weights of topics.
#pragma once
#include "foundation/pool.h"
#include "topics/model/topic_sum.h"

namespace bnpvi::topics {

/// Computes the statistics of topics from some documents of a batch, topic by topic. The responsibilities of
/// a document are products of factors (DocumentFactors), so T_kv = e_vk Σ_d w_dk share_dv. This needs each
/// e_vk once, and memory for the sums of one topic at a time: 8 bytes for each entry of the data and 24 for
/// each topic of a document.
class TermSum {
 public:
  /// Begins an empty sum for the documents units[from] .. units[to − 1].
  TermSum(const Dataset& data, const std::vector<Index>& units, Index from, Index to, Index k,
          const DocumentTerms& terms);

  /// Adds the next document, in the order of `units`. The data must outlive the sum.
  void add(const DocumentView& view, Shares share, const DocumentFactors& factors);

  /// The summary (additive statistics) of all `parts`, added in their order. table: the expected
  /// log-likelihoods under which the documents were visited, with exponentials.
  static Summary finish(std::vector<TermSum>& parts, const TopicTable& table, Pool& pool);

 private:
  struct Document {
    const int* row;
    Index n;
    std::size_t share, mask;  // where the document's row factors and its mask begin
    Index mask_words;         // length of a row of the mask; 0: all topics
  };
  struct Use {
    double w;
    int document, topic, bit;  // bit: the topic's number within the document
  };
  struct Mass {
    int term, topic;
    double value;
  };
  void sort_uses();
  void add_topic(Index topic, double* t) const;

  DocumentTerms terms_;
  Summary rest_;  // the summary except T, but with T_0
  LengthSum lengths_;
  std::vector<Document> document_;
  Vec share_;
  std::vector<unsigned long long> mask_;
  std::vector<Use> use_;                // ordered by document; by topic once finish() has begun
  std::vector<std::size_t> first_use_;  // position in use_ of the first use of each topic
  std::vector<Mass> apart_;
};

}  // namespace bnpvi::topics
