// The interface by which truncation-free learning uses documents, whether their observations are tokens or
// rows.
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

/// Documents whose observations (tokens of counts, or rows) are numbered consecutively.
class Documents {
 public:
  virtual ~Documents() = default;

  Index n() const { return starts_.back(); }
  Index n_documents() const { return static_cast<Index>(starts_.size()) - 1; }
  /// Observations of document d: starts()[d] .. starts()[d + 1] − 1.
  const std::vector<Index>& starts() const { return starts_; }
  /// The rows of the observations in the data; null if observations are tokens.
  virtual const std::vector<Index>* rows() const { return nullptr; }

  /// Urns (statistics of topics) without any topic yet. They refer to these documents.
  virtual std::unique_ptr<ObservationUrns> urns() const = 0;

  /// Adds mass φ(x_i), the features of observation i, to the statistic t of a topic (p numbers).
  virtual void add_to(double* t, Index i, double mass) const = 0;
  /// Appends observation i, its word or its features, to the record.
  virtual void append_to(LabelledDocuments& record, Index i) const = 0;

  /// Σ log p̂(document) over documents (sequential_estimate.h), without the base measure h(x). t: statistics
  /// of the topics (K × p). a: their Dirichlet weights, K numbers, or one more for a new topic.
  virtual double log_predictive(const Vec& t, const Vec& a, Index draws, std::uint64_t seed,
                                Pool& pool) const = 0;

  /// Corrects a statistic t from which some observations were subtracted for errors of rounding; returns
  /// false where these are too large to be corrected.
  virtual bool mend(double* t, double size_before) const = 0;

  /// True if all observations that a topic has in one document must stay together when the topic is
  /// clustered, since a single token tells too little.
  virtual bool whole_parts() const = 0;
  /// Clusters the parts of a topic (its observations in each document) into at most `most` clusters
  /// (part_chain.h). What is assigned to clusters are whole parts, or single observations (whole_parts()).
  virtual std::vector<int> cluster(const std::vector<std::vector<Index>>& parts, Index most, Stream& stream,
                                   Pool& pool) const = 0;
  /// Divides a topic's statistic t among clusters. latest (K × p): the statistics that the clusters have in
  /// the latest observations only.
  virtual Vec divided(const double* t, const Vec& latest) const = 0;

 protected:
  explicit Documents(std::vector<Index> starts) : starts_(std::move(starts)) {}
  static std::vector<Index> starts_of(const LabelledDocuments& record);

  /// Sum over documents of sequential estimates (sequential_estimate.h). Column column[i] of phi (K ×
  /// columns, column-major) has the probabilities of observation i under the topics.
  double sequential_sum(const std::vector<int>& column, const Vec& phi, const Vec& a, Index draws,
                        std::uint64_t seed, Pool& pool) const;

 private:
  std::vector<Index> starts_;
};

/// The documents of a batch, which must outlive the result. Observations are tokens if the model has tokens,
/// otherwise rows.
std::unique_ptr<Documents> documents_of(const ObsModel& obs, const Dataset& batch);
/// The documents of a record, without the topics of their observations.
std::unique_ptr<Documents> documents_of(const ObsModel& obs, const LabelledDocuments& record);

}  // namespace bnpvi::topics
