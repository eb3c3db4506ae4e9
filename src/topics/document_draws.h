// Topics of the tokens of a batch of documents, drawn given those of all other tokens.
#pragma once
#include "foundation/pool.h"
#include "topics/token_urns.h"
#include "topics/tokens.h"
#include "topics/topic_sampler.h"

namespace bnpvi::topics {

/// Proportions of topics in all documents: β_1, ..., β_K, and what is left for others.
struct TopWeights {
  Vec beta;
  RestOfWeights rest{0, 1, 0};
};

/// A token of word w in document d has topic k with probability proportional to
///   (n_dk + αβ_k)(n_kw + λ_w)/(n_k + Λ),   a new one αβ_rest λ_w/Λ,
/// counts without the token, those of the urns and not of these documents included. A new topic has the share
/// Beta(1, γ) of β_rest [Teh and others 2006, §5.3].
class DocumentDraws {
 public:
  /// Refers to all of these; `most` topics at most, if there is no token for which there is no topic yet.
  /// mass: of a token of each document, 1 without.
  DocumentDraws(const Tokens& tokens, TokenUrns& urns, TopWeights& weights, Pool& pool, Index most,
                const Vec* mass = nullptr);

  /// Labels all tokens, none of which is in the urns yet: documents in random order, and so the tokens of
  /// each.
  void place_all(std::vector<int>& label, double alpha, double gamma, Stream& stream);

  /// Takes each token out of its urn, document by document, and draws its topic anew.
  void draw_all(std::vector<int>& label, double alpha, double gamma, Stream& stream);

  /// True once a new topic would have been possible but for `most`.
  bool capped() const { return capped_; }

 private:
  void poll(Index tokens);
  double mass(std::size_t document) const { return mass_ ? (*mass_)[document] : 1; }
  // Opens a topic if the token gets a new one.
  Index draw_topic(Index word, double alpha, double gamma, Stream& stream);

  const Tokens& tokens_;
  TokenUrns& urns_;
  TopWeights& weights_;
  Pool& pool_;
  const Index most_;
  const Vec* mass_;
  bool capped_ = false;
  Vec weight_;
  std::vector<Index> in_document_;  // n_dk of the present document
  Index since_poll_ = 0;
};

}  // namespace bnpvi::topics
