// The interface of documents for learning batch by batch without truncation. Documents consist of single
// tokens or of rows.
#pragma once
#include <memory>
#include <vector>

#include "foundation/data.h"
#include "foundation/pool.h"
#include "foundation/random.h"
#include "observations/obs_model.h"
#include "sampling/observation_urns.h"
#include "topics/streams/running_topics.h"

namespace bnpvi::topics {

/// The documents of a batch; their observations (tokens of counts, or rows) are numbered consecutively.
class Documents {
 public:
  virtual ~Documents() = default;

  Index n() const { return starts_.back(); }
  Index n_documents() const { return static_cast<Index>(starts_.size()) - 1; }
  /// Where the observations of each document begin: document d has those with numbers starts()[d] ..
  /// starts()[d + 1] − 1.
  const std::vector<Index>& starts() const { return starts_; }
  /// Numbers, in the data, of the rows that the observations are; null if observations are tokens.
  virtual const std::vector<Index>* rows() const { return nullptr; }

  /// Makes urns: the topics of a sampler, with their statistics. There is no topic yet. The urns keep a
  /// reference to these documents.
  virtual std::unique_ptr<ObservationUrns> urns() const = 0;

  /// Adds mass φ(x_i), the features of observation i times `mass`, to the statistic t of a topic (p numbers).
  virtual void add_to(double* t, Index i, double mass) const = 0;
  /// Appends observation i to the record: its word if it is a token, or its features if it is a row.
  virtual void append_to(LabelledDocuments& record, Index i) const = 0;

  /// Σ log p̂(document), an estimate of the log density of all documents (sequential_estimate.h), without the
  /// base measure h(x). t: statistics of the topics (K × p). a: their Dirichlet weights, K numbers, or K + 1
  /// if the last is for a new topic.
  virtual double log_predictive(const Vec& t, const Vec& a, Index draws, std::uint64_t seed,
                                Pool& pool) const = 0;

  /// Corrects rounding errors of a statistic t from which observations were subtracted. Returns false if the
  /// errors are too large for that.
  virtual bool mend(double* t, double size_before) const = 0;

  /// Whether all observations that a topic has in one document stay together when the topic is split. True
  /// for tokens, since a single token carries too little information.
  virtual bool whole_parts() const = 0;
  /// Clusters the parts of a topic (its observations in each document) into at most `most` clusters
  /// (part_chain.h). Returns the cluster of each part if whole_parts(), otherwise that of each observation.
  virtual std::vector<int> cluster(const std::vector<std::vector<Index>>& parts, Index most, Stream& stream,
                                   Pool& pool) const = 0;
  /// Divides a topic's statistic t among K clusters. latest (K × p): the statistics of the clusters from the
  /// latest observations only.
  virtual Vec divided(const double* t, const Vec& latest) const = 0;

 protected:
  explicit Documents(std::vector<Index> starts) : starts_(std::move(starts)) {}
  static std::vector<Index> starts_of(const LabelledDocuments& record);

  /// The sum over documents of sequential estimates of their log probability (sequential_estimate.h). phi:
  /// probabilities of observations under the K topics, K × columns, column-major; observation i has column
  /// column[i].
  double sequential_sum(const std::vector<int>& column, const Vec& phi, const Vec& a, Index draws,
                        std::uint64_t seed, Pool& pool) const;

 private:
  std::vector<Index> starts_;
};

/// The documents of a batch, which must outlive the result. Observations are tokens if the model is one of
/// counts of tokens, otherwise rows.
std::unique_ptr<Documents> documents_of(const ObsModel& obs, const Dataset& batch);
/// The documents of a record; the recorded topics of their observations are not used.
std::unique_ptr<Documents> documents_of(const ObsModel& obs, const LabelledDocuments& record);

}  // namespace bnpvi::topics
