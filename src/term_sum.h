// Sums over documents of counts that were visited under the same weights: the local step's own summary.
#pragma once
#include "pool.h"
#include "topic_sum.h"

namespace bnpvi {

/// Some documents of a batch, added up by term: T_vk = e_vk Σ_d share_dv w_dk [DocumentFactors] has its
/// exponentials once a term, and one row of sums at a time. Memory: 16 bytes for each entry of the data and
/// each topic of a document.
class TermSum {
 public:
  /// Of the documents units[from .. to).
  TermSum(const Dataset& data, const std::vector<Index>& units, Index from, Index to, Index k, double alpha);

  /// The next of them.
  void add(const DocumentView& view, const std::vector<TopicShare>& share, const DocumentFactors& factors);

  /// Adds all parts to `out`, in their order. The table is that of all documents, exponentials included.
  static void finish(std::vector<TermSum>& parts, const TopicTable& table, Pool& pool, Summary& out);

 private:
  struct Use {
    double w;
    int topic;
  };
  struct Token {
    double share;
    int document, mask;  // mask: where its words begin; −1: all topics of the document
  };
  struct Mass {
    int term, topic;
    double value;
  };
  void add_terms(Index from, Index to, double* sum) const;
  double add_apart(Index from, Index to, const TopicTable& table, double* sum) const;

  Index k_;
  double alpha_;
  Summary rest_;                   // extra, scalars and T_0
  std::vector<int> start_, next_;  // by term: its tokens, and where the next of them goes
  std::vector<Token> token_;       // by term, then by document
  std::vector<Use> use_;
  std::vector<int> first_use_{0};
  std::vector<unsigned long long> mask_;
  std::vector<Mass> apart_;  // by term once finish() has begun
};

}  // namespace bnpvi
