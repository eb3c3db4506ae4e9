// What a document contributes to the summary of a topic model.
#pragma once
#include <algorithm>

#include "inference/data/summary.h"
#include "topics/model/document_step.h"
#include "topics/responses/response.h"

namespace bnpvi::topics {

/// Statistics of a topic other than T_k, sums over the documents that use it (N_dk > 0):
///   their number n_k,   Σ_d ψ(θ_dk),   Σ_d [log Γ(θ_dk) + (N_dk − θ_dk) ψ(θ_dk)],
/// so that the tangents of log Γ at θ_dk sum to extra_2 + απ_k extra_1 ≤ Σ_d log Γ(N_dk + απ_k), exactly
/// linear in π_k. Documents without the topic contribute log Γ(απ_k), which needs no statistic.
/// Where priors are by covariate pattern, n_k and the sum of ψ(θ_dk) are of each pattern in turn.
struct TopicExtra {
  enum { users, slope, offset, size };
  static Index size_of(Index patterns) { return 2 * std::max<Index>(patterns, 1) + 1; }
  static Index users_of(Index pattern) { return 2 * pattern; }
  static Index slope_of(Index pattern) { return 2 * pattern + 1; }
};
/// Scalars: the entropy of q(z), the number of documents, −Σ_d log Γ(N_d + α). A document of weight w counts
/// as w documents in all of them.
/// Where priors are by pattern, the last is a sum of f_d(s) − s f_d'(s), f_d(s) = log Γ(s) − log Γ(N_d + s),
/// at the sums s of the documents' priors, and there are of each pattern the number of documents and
/// Σ_d f_d'(s): as f_d is convex, tangents are lower bounds again.
struct TopicScalar {
  enum { entropy, documents, lengths, size };
  static Index documents_of(Index pattern) { return size + 2 * pattern; }
  static Index slope_of(Index pattern) { return size + 2 * pattern + 1; }
};

/// What documents add beside T and the entropy: by their total prior α, or by covariate pattern, and a
/// response where they have one (null: none), but not both.
struct DocumentTerms {
  double alpha;
  const ResponseModel* response = nullptr;
  Index patterns = 0;
};

/// Adds the tangents of a document's shares, `times` each, to the statistics of topics (K ×
/// TopicExtra::size_of(patterns)).
void add_tangents(Shares share, double times, double* extra, Index pattern = 0, Index patterns = 0);

/// Adds the tangent of f_d for a document of this length to the scalars.
void add_length(double length, double times, Index pattern, double all, Vec& scalar);

/// Adds what a document contributes, as often as it counts, except T and the entropy to a summary.
void add_document(const DocumentView& view, Shares share, const DocumentTerms& terms, Summary& to);

/// The statistics of responses come after those above.
SummaryShape topic_shape(Index p, const DocumentTerms& terms);

/// Adds up documents with the given number of topics, each as often as it counts.
class TopicSum {
 public:
  TopicSum(const ObsModel& obs, const DataShape& data, Index k, Index width, const DocumentTerms& terms);

  /// `share` must belong to the loaded view. Returns the responsibilities by share, rows × share.size().
  const Vec& add(DocumentReader& reader, const DocumentView& view, Shares share);

  /// Adds everything to `out`, `times` over.
  void finish(Summary& out, double times = 1);

 private:
  void add_statistics(DocumentReader& reader, const DocumentView& view, Shares share);

  Index k_, n_terms_;
  Index width_;
  DocumentTerms terms_;
  bool by_term_;
  Summary rest_;  // all but T, with p = 1: T_0 of documents of counts
  FeatureSum sum_;
  std::vector<Vec> by_topic_;  // documents of counts: V sums of each topic that any of them uses
  Vec r_;
};

}  // namespace bnpvi::topics
