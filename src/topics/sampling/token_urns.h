// Counts of the words in each topic, while a sampler adds and removes tokens. Tokens of earlier documents may
// be included.
#pragma once
#include <vector>

#include "sampling/observation_urns.h"

namespace bnpvi::topics {

/// Counts of the words in each topic. At the start a topic may have tokens of earlier documents of a stream.
/// Their counts may be fractions, since the weight of old documents fades.
class TokenUrns final : public ObservationUrns {
 public:
  /// words: word of each token; lambda: Dirichlet prior of the V terms (words) in a topic. Keeps references
  /// to both.
  TokenUrns(const std::vector<int>& words, const Vec& lambda);

  void begin_with(const double* t, Index k) override;
  Index k() const override { return static_cast<Index>(size_.size()); }
  void add(Index j, Index i, double mass) override;
  bool remove(Index j, Index i, double mass) override;
  void drop(Index j) override;

  /// The probability of a token of word w in topic j is (n_jw + λ_w) / (n_j + Λ), in a new topic λ_w / Λ.
  /// n_jw: tokens of word w in topic j; n_j: all tokens in topic j; λ: Dirichlet prior of the terms (words);
  /// Λ: its sum.
  double weigh_without(Index i, Index own, double mass, const Vec& odds, double* out) const override;

  /// The present statistics of all topics, from their counts. The arguments are not used.
  Vec statistics(const Vec& begun, const std::vector<int>& label, const Vec& mass) const override;

 private:
  void grow();  // doubles room_

  const std::vector<int>& words_;
  const Vec& lambda_;
  const double total_;  // Λ, the sum of λ
  const Index v_;
  Index room_ = 0;          // number of topics for which memory is allocated
  Vec counts_;              // counts of the words in each topic, V × room_
  Vec size_, inverse_;      // n_j, the number of tokens in each topic; 1 / (n_j + Λ)
  std::vector<Index> own_;  // for each topic, how many of the tokens that were added are in it now
  Index n_begun_ = 0;
};

}  // namespace bnpvi::topics
