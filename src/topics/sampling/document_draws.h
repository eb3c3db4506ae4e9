// Topics of the observations of a batch of documents, drawn given those of all others.
#pragma once
#include "foundation/pool.h"
#include "topics/sampling/topic_sampler.h"
#include "topics/sampling/topic_urns.h"

namespace bnpvi::topics {

/// An observation x of document d has topic k with probability proportional to
///   (n_dk + αβ_k) p(x | topic k),  a new one αβ_rest p(x),
/// counts and predictives without it, those of the urns that are not of these documents included. Of a token
/// of word w p(x | topic k) = (n_kw + λ_w)/(n_k + Λ). A new topic has the share Beta(1, γ) of β_rest [Teh and
/// others 2006, §5.3].
class DocumentDraws {
 public:
  /// Refers to all of these; `most` topics at most, if there is no observation for which there is no topic
  /// yet. Observations of document d are starts[d] .. starts[d + 1] − 1; mass: of one of each document, 1
  /// without.
  DocumentDraws(const std::vector<Index>& starts, TopicUrns& urns, TopWeights& weights, Pool& pool,
                Index most, const Vec* mass = nullptr);

  /// Labels all observations, none of which is in the urns yet: documents in random order, and so the
  /// observations of each.
  void place_all(std::vector<int>& label, double alpha, double gamma, Stream& stream);

  /// The same of these observations of document d, in this order. Adds the logarithms of p(x | observations
  /// before it) to log_p, unless it is null.
  void place(Index d, const std::vector<Index>& order, std::vector<int>& label, double alpha, double gamma,
             Stream& stream, double* log_p = nullptr);

  /// Takes each observation out of its urn, document by document, and draws its topic anew.
  void draw_all(std::vector<int>& label, double alpha, double gamma, Stream& stream);

  /// The same of document d alone. Returns how many of its observations each topic has.
  const std::vector<Index>& draw_document(Index d, std::vector<int>& label, double alpha, double gamma,
                                          Stream& stream);

  /// True once a new topic would have been possible but for `most`.
  bool capped() const { return capped_; }

 private:
  void poll();
  double mass(Index document) const { return mass_ ? (*mass_)[document] : 1; }
  // Opens a topic if observation i gets a new one.
  Index draw_topic(Index i, double alpha, double gamma, Stream& stream);

  const std::vector<Index>& starts_;
  TopicUrns& urns_;
  TopWeights& weights_;
  Pool& pool_;
  const Index most_;
  const Vec* mass_;
  bool capped_ = false;
  Vec prior_, weight_;
  double log_scale_ = 0;            // of the weights
  std::vector<Index> in_document_;  // n_dk of the present document
  Index since_poll_ = 0;
};

}  // namespace bnpvi::topics
