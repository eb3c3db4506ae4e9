// Draws the topics of observations of documents, each given the topics of all others.
#pragma once
#include "sampling/cluster_draws.h"
#include "topics/sampling/topic_sampler.h"

namespace bnpvi::topics {

/// Draws the topic of one observation at a time, given the topics of all others. The prior odds in document d
/// are n_dk + αβ_k for topic k, and αβ_rest for a new topic. n_dk: number of the document's other
/// observations in topic k; β: weights of topics; β_rest: weight of all topics not in use. The weight of a
/// new topic is β_rest times a draw from Beta(1, γ) [Teh and others 2006, §5.3].
class DocumentDraws final : public ClusterDraws {
 public:
  /// Keeps references to all arguments. starts: document d has the observations starts[d] .. starts[d + 1] −
  /// 1. urns: statistics of the topics. most: the largest number of topics. mass: for each document, the
  /// weight of its observations; null: 1.
  DocumentDraws(const std::vector<Index>& starts, ObservationUrns& urns, TopWeights& weights, Pool& pool,
                Index most = std::numeric_limits<Index>::max(), const Vec* mass = nullptr);

  /// Begins a document whose observations have no topics yet.
  void begin_document(double alpha, double gamma);

  /// Draws a topic for each observation when none has a topic yet. Documents come in random order, and so do
  /// the observations of each document.
  void place_all(std::vector<int>& label, double alpha, double gamma, Stream& stream);

  /// Draws the topic of each observation anew, one document after the other. The observation is first removed
  /// from the urn (the statistic) of its topic.
  void draw_all(std::vector<int>& label, double alpha, double gamma, Stream& stream);

  /// Draws anew the topics of the observations of document d only. Returns how many observations of the
  /// document are in each topic.
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
  std::vector<Index> in_document_;  // n_dk: number of the document's observations in each topic
};

}  // namespace bnpvi::topics
