// Counts of words in topics, while a sampler adds and removes tokens. They may include counts of tokens of
// earlier documents.
#pragma once
#include <vector>

#include "sampling/observation_urns.h"

namespace bnpvi::topics {

/// Counts of the words in each topic. The counts of topics that contain earlier tokens may be fractions.
class TokenUrns final : public ObservationUrns {
 public:
  /// words: word of each token; lambda: the Dirichlet prior of the V terms in a topic. Keeps references to
  /// both.
  TokenUrns(const std::vector<int>& words, const Vec& lambda);

  void begin_with(const double* t, Index k) override;
  Index k() const override { return static_cast<Index>(size_.size()); }
  void add(Index j, Index i, double mass) override;
  bool remove(Index j, Index i, double mass) override;
  void drop(Index j) override;

  /// Probability of a token of word w in topic j: (n_jw + λ_w) / (n_j + Λ), with n_jw and n_j the topic's
  /// tokens of word w and of all words, λ the term prior and Λ its sum; for a new topic λ_w / Λ.
  double weigh_without(Index i, Index own, double mass, const Vec& odds, double* out) const override;

  /// The present statistics of all topics, computed from their counts; the arguments are not needed.
  Vec statistics(const Vec& begun, const std::vector<int>& label, const Vec& mass) const override;

 private:
  void grow();  // doubles room_, the number of topics for which there is memory

  const std::vector<int>& words_;
  const Vec& lambda_;
  const double total_;  // Λ, the sum of λ
  const Index v_;
  Index room_ = 0;
  Vec counts_;              // counts of the words in each topic, V × room_
  Vec size_, inverse_;      // n_j, tokens of each topic, and 1 / (n_j + Λ)
  std::vector<Index> own_;  // number of added tokens now in each topic
  Index n_begun_ = 0;
};

}  // namespace bnpvi::topics
