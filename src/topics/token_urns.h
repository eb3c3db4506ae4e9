// Counts of words in topics while tokens come and go, when there are tokens of earlier documents, too.
#pragma once
#include <vector>

#include "foundation/types.h"

namespace bnpvi::topics {

/// K topics, numbered 0 .. K − 1. Of those that began with earlier tokens the counts may be fractions.
class TokenUrns {
 public:
  /// lambda: the term prior (V).
  explicit TokenUrns(const Vec& lambda);

  /// Clears, and begins with k topics that have the statistics t (k × (1 + V)). They stay when their own
  /// tokens have left. Tokens that are added and removed have masses.
  void begin_with(const double* t, Index k);

  Index k() const { return static_cast<Index>(size_.size()); }
  /// Tokens of topic j, and its count of word w, earlier ones included.
  double size(Index j) const { return size_[j]; }
  double count(Index j, Index w) const { return counts_[w * room_ + j]; }

  void add(Index j, Index w, double mass);  // j ≤ K: a token of the topic, K of a new one
  /// True when topic j has no token left and did not begin with any; it must be dropped then, before anything
  /// else.
  bool remove(Index j, Index w, double mass);
  /// Topic K − 1 gets the number j.
  void drop(Index j);

  /// (n_jw + λ_w) / (n_j + Λ) of all K topics; returns λ_w / Λ, that of a new one.
  double predictives(Index w, double* out) const;

  /// The statistics of all topics, K × (1 + V).
  Vec statistics() const;

 private:
  void grow();  // room_ for twice as many topics

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
