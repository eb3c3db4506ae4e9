// Counts of words in topics while tokens come and go, when there are tokens of earlier documents, too.
#pragma once
#include <vector>

#include "sampling/observation_urns.h"

namespace bnpvi::topics {

/// Of topics that began with earlier tokens the counts may be fractions.
class TokenUrns final : public ObservationUrns {
 public:
  /// words: of the tokens; lambda: the term prior (V). Refers to both.
  TokenUrns(const std::vector<int>& words, const Vec& lambda);

  void begin_with(const double* t, Index k) override;
  Index k() const override { return static_cast<Index>(size_.size()); }
  void add(Index j, Index i, double mass) override;
  bool remove(Index j, Index i, double mass) override;
  void drop(Index j) override;

  /// p(token of word w | topic) = (n_jw + λ_w) / (n_j + Λ), of a new topic λ_w / Λ.
  double weigh_without(Index i, Index own, double mass, const Vec& odds, double* out) const override;

  /// The counts as they are.
  Vec statistics(const Vec& begun, const std::vector<int>& label, const Vec& mass) const override;

 private:
  void grow();  // room_ for twice as many topics

  const std::vector<int>& words_;
  const Vec& lambda_;
  const double total_;  // Λ
  const Index v_;
  Index room_ = 0;
  Vec counts_;              // V × room_
  Vec size_, inverse_;      // n_j, 1 / (n_j + Λ)
  std::vector<Index> own_;  // tokens that were added
  Index n_begun_ = 0;
};

}  // namespace bnpvi::topics
