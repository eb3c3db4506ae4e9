// Topics of the observations of a batch of documents, drawn given those of all others.
#pragma once
#include "sampling/cluster_draws.h"
#include "topics/sampling/topic_sampler.h"

namespace bnpvi::topics {

/// The odds of topic k are n_dk + αβ_k in document d, without the observation, and αβ_rest of a new one. A
/// new topic has the share Beta(1, γ) of β_rest [Teh and others 2006, §5.3].
class DocumentDraws final : public ClusterDraws {
 public:
  /// Refers to all of these; `most` as in ClusterDraws. Observations of document d are starts[d] .. starts[d
  /// + 1] − 1; mass: of one of each document, 1 without.
  DocumentDraws(const std::vector<Index>& starts, ObservationUrns& urns, TopWeights& weights, Pool& pool,
                Index most = std::numeric_limits<Index>::max(), const Vec* mass = nullptr);

  /// The present document has no observations yet.
  void begin_document(double alpha, double gamma);

  /// Labels all observations, none of which is in the urns yet: documents in random order, and so the
  /// observations of each.
  void place_all(std::vector<int>& label, double alpha, double gamma, Stream& stream);

  /// Takes each observation out of its urn, document by document, and draws its topic anew.
  void draw_all(std::vector<int>& label, double alpha, double gamma, Stream& stream);

  /// The same of document d alone. Returns how many of its observations each topic has.
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
  // Of the present document:
  double alpha_ = 1, gamma_ = 1;
  std::vector<Index> in_document_;  // n_dk
};

}  // namespace bnpvi::topics
