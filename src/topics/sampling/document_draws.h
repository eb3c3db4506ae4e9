// Draws the topics of observations of documents, each given the topics of all others.
#pragma once
#include "sampling/cluster_draws.h"
#include "topics/sampling/topic_sampler.h"

namespace bnpvi::topics {

/// Draws topics of observations with these prior odds: n_dk + αβ_k for topic k in document d, where n_dk
/// counts the document's other observations of topic k, and αβ_rest for a new topic. The weight of a new
/// topic is Beta(1, γ) times β_rest [Teh and others 2006, §5.3].
class DocumentDraws final : public ClusterDraws {
 public:
  /// Keeps references to all arguments. Observations of document d are starts[d] .. starts[d + 1] − 1. most:
  /// the largest number of topics. mass: for each document the weight of its observations; null: 1.
  DocumentDraws(const std::vector<Index>& starts, ObservationUrns& urns, TopWeights& weights, Pool& pool,
                Index most = std::numeric_limits<Index>::max(), const Vec* mass = nullptr);

  /// Begins a document, none of whose observations has a topic yet.
  void begin_document(double alpha, double gamma);

  /// Draws a topic for each observation, where no observation has a topic yet: documents in random order, and
  /// the observations of each document in random order.
  void place_all(std::vector<int>& label, double alpha, double gamma, Stream& stream);

  /// Draws the topic of each observation anew, document by document, after removing it from the urn (the
  /// statistic) of its topic.
  void draw_all(std::vector<int>& label, double alpha, double gamma, Stream& stream);

  /// Draws anew the topic of each observation of document d alone. Returns the number of the document's
  /// observations in each topic.
  const std::vector<Index>& draw_document(Index d, std::vector<int>& label, double alpha, double gamma,
                                          Stream& stream);

 private:
  double mass(Index document) const { return mass_ ? (*mass_)[document] : 1; }

  void find_odds(Index i, Vec& odds) const override;
  void joins(Index i, Index j, Stream& stream) override;
  void leaves(Index i, Index j) override;
  void dropped(Index j) override;

  const std::vector<Index>& starts_;
  TopWeights& weights_;
  Pool& pool_;
  const Vec* mass_;
  // The parameters and counts of the present document:
  double alpha_ = 1, gamma_ = 1;
  std::vector<Index> in_document_;  // n_dk, its observations in each topic
};

}  // namespace bnpvi::topics
