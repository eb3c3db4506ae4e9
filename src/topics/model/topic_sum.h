// What a document contributes to the summary of a topic model.
#pragma once
#include "inference/data/summary.h"
#include "topics/model/document_step.h"
#include "topics/responses/response.h"

namespace bnpvi::topics {

/// Statistics of a topic other than T_k, sums over the documents that use it (N_dk > 0):
///   their number n_k,   Σ_d ψ(θ_dk),   Σ_d [log Γ(θ_dk) + (N_dk − θ_dk) ψ(θ_dk)],
/// so that the tangents of log Γ at θ_dk sum to extra_2 + απ_k extra_1 ≤ Σ_d log Γ(N_dk + απ_k), exactly
/// linear in π_k. Documents without the topic contribute log Γ(απ_k), which needs no statistic.
struct TopicExtra {
  enum { users, slope, offset, size };
};
/// Scalars: the entropy of q(z), the number of documents, −Σ_d log Γ(N_d + α). A document of weight w counts
/// as w documents in all of them.
struct TopicScalar {
  enum { entropy, documents, lengths, size };
};

/// Adds the tangents of a document's shares, `times` each, to the statistics of topics (K ×
/// TopicExtra::size).
void add_tangents(Shares share, double times, double* extra);

/// Adds what a document contributes, as often as it counts, except T and the entropy to a summary. response:
/// null where there are none.
void add_document(const DocumentView& view, Shares share, double alpha, const ResponseModel* response,
                  Summary& to);

/// The statistics of responses come after those above.
SummaryShape topic_shape(Index p, const ResponseModel* response);

/// Adds up documents with the given number of topics, each as often as it counts.
class TopicSum {
 public:
  TopicSum(const ObsModel& obs, const DataShape& data, Index k, double alpha, Index width,
           const ResponseModel* response);

  /// `share` must belong to the loaded view. Returns the responsibilities by share, rows × share.size().
  const Vec& add(DocumentReader& reader, const DocumentView& view, Shares share);

  /// Adds everything to `out`, `times` over.
  void finish(Summary& out, double times = 1);

 private:
  void add_statistics(DocumentReader& reader, const DocumentView& view, Shares share);

  Index k_, n_terms_;
  double alpha_;
  Index width_;
  const ResponseModel* response_;
  bool by_term_;
  Summary rest_;  // all but T, with p = 1: T_0 of documents of counts
  FeatureSum sum_;
  std::vector<Vec> by_topic_;  // documents of counts: V sums of each topic that any of them uses
  Vec r_;
};

}  // namespace bnpvi::topics
