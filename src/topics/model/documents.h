// Documents observation by observation: what truncation-free learning has to know of tokens and of rows.
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

/// Documents whose observations, tokens of counts or rows, are numbered one after the other.
class Documents {
 public:
  virtual ~Documents() = default;

  Index n() const { return starts_.back(); }
  Index n_documents() const { return static_cast<Index>(starts_.size()) - 1; }
  /// Observations of document d: starts()[d] .. starts()[d + 1] − 1.
  const std::vector<Index>& starts() const { return starts_; }
  /// The rows of the observations in the data; null if observations are tokens.
  virtual const std::vector<Index>* rows() const { return nullptr; }

  /// No topics yet. Refers to these documents.
  virtual std::unique_ptr<ObservationUrns> urns() const = 0;

  /// t += mass φ(x_i), p numbers.
  virtual void add_to(double* t, Index i, double mass) const = 0;
  /// Appends observation i to the record: its word, or its features.
  virtual void append_to(LabelledDocuments& record, Index i) const = 0;

  /// Σ log p̂(document) over documents (sequential_estimate.h), h(x) left out, under topics of statistics t
  /// (K × p) with Dirichlet weights a: K, or one more for a new topic.
  virtual double log_predictive(const Vec& t, const Vec& a, Index draws, std::uint64_t seed,
                                Pool& pool) const = 0;

  /// Of a statistic that some of its observations were taken out of: mends what rounding spoiled, or returns
  /// false where it spoiled too much.
  virtual bool mend(double* t, double size_before) const = 0;

  /// Whether all that a topic has of a document belongs together, as one token says too little for itself.
  virtual bool whole_parts() const = 0;
  /// Clusters of a topic's parts of documents, at most so many (part_chain.h): such parts, or single rows.
  virtual std::vector<int> cluster(const std::vector<std::vector<Index>>& parts, Index most, Stream& stream,
                                   Pool& pool) const = 0;
  /// A topic's statistic t divided among clusters of which `latest` (K × p) has the latest observations.
  virtual Vec divided(const double* t, const Vec& latest) const = 0;

 protected:
  explicit Documents(std::vector<Index> starts) : starts_(std::move(starts)) {}
  static std::vector<Index> starts_of(const LabelledDocuments& record);

  /// Sequential estimates where observation i is column[i] of phi (K × columns, column-major).
  double sequential_sum(const std::vector<int>& column, const Vec& phi, const Vec& a, Index draws,
                        std::uint64_t seed, Pool& pool) const;

 private:
  std::vector<Index> starts_;
};

/// Of a batch, to which the result refers. Observations are tokens if the model has tokens, else rows.
std::unique_ptr<Documents> documents_of(const ObsModel& obs, const Dataset& batch);
/// Of a record, topics left out.
std::unique_ptr<Documents> documents_of(const ObsModel& obs, const LabelledDocuments& record);

}  // namespace bnpvi::topics
