// What a document adds to the summary (the additive statistics) of a topic model.
#pragma once
#include <algorithm>

#include "inference/data/summary.h"
#include "topics/model/document_step.h"
#include "topics/responses/response.h"

namespace bnpvi::topics {

/// Positions of the statistics of a topic k beside T_k. They are three sums over the documents d that use it
/// (N_dk > 0):
///   their number n_k,   Σ_d ψ(θ_dk),   Σ_d [log Γ(θ_dk) + (N_dk − θ_dk) ψ(θ_dk)].
/// These are the tangents of log Γ at θ_dk: the third sum plus απ_k times the second is a lower bound of Σ_d
/// log Γ(N_dk + απ_k), linear in π_k. Documents without the topic contribute log Γ(απ_k), which needs no
/// statistic. If priors depend on covariate patterns, there are n_k and Σ_d ψ(θ_dk) for each pattern.
struct TopicExtra {
  enum { users, slope, offset, size };
  static Index size_of(Index patterns) { return 2 * std::max<Index>(patterns, 1) + 1; }
  static Index users_of(Index pattern) { return 2 * pattern; }
  static Index slope_of(Index pattern) { return 2 * pattern + 1; }
};
/// Positions of the scalars in the summary of a topic model: the entropy of q(z), the number of documents,
/// and −Σ_d log Γ(N_d + α). A document of weight w counts as w documents in each.
///
/// If priors depend on covariate patterns, let s be the sum of a document's prior parameters and f_d(s) = log
/// Γ(s) − log Γ(N_d + s). The last scalar is then the sum of f_d(s) − s f_d'(s). Each pattern has two more
/// scalars: its number of documents and Σ_d f_d'(s). Since f_d is convex, its tangents are lower bounds, too.
struct TopicScalar {
  enum { entropy, documents, lengths, size };
  static Index documents_of(Index pattern) { return size + 2 * pattern; }
  static Index slope_of(Index pattern) { return size + 2 * pattern + 1; }
};

/// What is needed to compute the terms that documents add to a summary, beside the topics' statistics T and
/// the entropy. alpha: the concentration. patterns: the number of covariate patterns on which priors depend;
/// 0: none. response: the model of the documents' responses; null: none. A model never has both.
struct DocumentTerms {
  double alpha;
  const ResponseModel* response = nullptr;
  Index patterns = 0;
};

/// Adds the tangents of log Γ (lower bounds, see TopicExtra) of a document, multiplied by `times`, to the
/// statistics `extra` of the topics (K × TopicExtra::size_of(patterns)). share: its topics and counts.
void add_tangents(Shares share, double times, double* extra, Index pattern = 0, Index patterns = 0);

/// Adds the tangents of f_d, the terms of documents' lengths (see TopicScalar), to the scalars, those of
/// several documents at a time: finish() adds the last ones.
class LengthSum {
 public:
  /// all: where the tangent is taken, the sum of the document's prior parameters.
  void add(double length, double times, Index pattern, double all, Vec& scalar);
  void finish(Vec& scalar);

 private:
  static constexpr std::size_t most = 16;  // documents that one call of a kernel takes: a guess
  std::size_t n_ = 0;                      // documents that wait
  double at_[2 * most], times_[most];      // at_: of each document, `all` and the sum of `all` and its length
  Index pattern_[most];
};

/// Adds all that a document contributes to a summary, multiplied by its weight, except the topics' statistics
/// T, the entropy, and what `lengths` adds when it is finished.
void add_document(const DocumentView& view, Shares share, const DocumentTerms& terms, Summary& to,
                  LengthSum& lengths);

/// Sizes of the summaries of topic models with p features; the statistics of responses come after those of
/// topics.
SummaryShape topic_shape(Index p, const DocumentTerms& terms);

/// Adds up the contributions of documents to a summary; each document may use any number of the k topics, and
/// is multiplied by its weight.
class TopicSum {
 public:
  TopicSum(const ObsModel& obs, const DataShape& data, Index k, Index width, const DocumentTerms& terms);

  /// Adds a document, which must be loaded in `view`. share: its topics and counts. Returns the
  /// responsibilities of the document's rows for these topics, rows × share.size(). What rows hide
  /// (ExpectedCells) is expected under view.weights; documents with and without these must not be mixed.
  const Vec& add(DocumentReader& reader, const DocumentView& view, Shares share);

  /// Adds the sum over all documents, multiplied by `times`, to `out`.
  void finish(Summary& out, double times = 1);

 private:
  void add_statistics(DocumentReader& reader, const DocumentView& view, Shares share);

  Index k_, n_terms_;
  Index width_;
  DocumentTerms terms_;
  bool by_term_;
  bool expects_;                 // do rows hide something, which is replaced by its expectation?
  std::vector<Index> at_visit_;  // with expects_: what number topics had at the visit of the present document
  Summary rest_;                 // the summary except T; with p = 1: T_0 of documents of counts
  LengthSum lengths_;
  FeatureSum sum_;
  std::vector<Vec> by_topic_;  // documents of counts: V sums of each topic that any of them uses
  Vec r_;
};

}  // namespace bnpvi::topics
