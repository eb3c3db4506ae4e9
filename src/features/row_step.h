// Updates of q(z) of one row: which features it has.
#pragma once
#include <cmath>

#include "features/local_step.h"
#include "foundation/random.h"

namespace bnpvi::features {

/// Entropy h₂(ν) = −ν log ν − (1 − ν) log(1 − ν) of a coin with probability ν.
inline double binary_entropy(double nu) {
  return nu > 0 && nu < 1 ? -nu * std::log(nu) - (1 - nu) * std::log1p(-nu) : 0;
}

/// Coordinate ascent over ν_k, the probabilities that a row has feature k, one row at a time. Visiting
/// explains steps and symbols. Each thread has an object of its own as scratch memory.
class RowStep {
 public:
  RowStep(const LocalModel& model, const RowBatch& batch);

  /// Begins with row i of the batch. g: for each of the K features the evidence of the row x, g = τ̂ M x. M:
  /// means of the loadings; τ̂: expected precision of the noise.
  void begin(Index i, const double* g);
  /// Sets the probabilities ν (K numbers, 1 for the offset, a feature of all rows).
  void set(const double* nu);
  /// Sets each ν_k as if the row had only feature k and the offset: ν_k = σ(e_k + g_k − ½ G_kk − G_k0). σ:
  /// logistic function; e_k: prior log odds; g_k: evidence of the row; G: second moments of the loadings; 0:
  /// index of the offset (a feature of all rows).
  void set_alone();
  void sweep(Index most);
  /// Changes two features of the row at once: a feature that it has is removed, one that it lacks is added.
  /// Updates of one feature at a time cannot make such changes. The pair is that with the highest expected
  /// gain of the bound, among the features of the last sweep: c_i s_i + c_j s_j − c_i c_j G_ij, with logits
  /// s, c = 1 − 2ν (ν rounded to 0 or 1) and second moments G of the loadings. Returns false if no pair
  /// promises a gain.
  bool exchange();
  /// Draws the features of the row one after the other, each given the others. The probabilities ν of the
  /// features must be 0 or 1, and are so afterwards.
  void draw(Stream& stream);
  /// The part of the row's bound that depends on its ν, the probabilities of features: g·ν − ½[νᵀGν + Σ_k
  /// G_kk ν_k(1 − ν_k)] + e·ν + Σ h₂(ν).
  double bound() const;
  const double* nu() const { return nu_.data(); }

 private:
  double score(Index j) const {
    return logit_[j] + g_[j] - gram_[j * k_ + j] / 2 - (field_[j] - gram_[j * k_ + j] * nu_[j]);
  }
  void choose();
  bool step();
  void change(Index j, double now);

  const LocalModel& model_;
  const RowBatch& batch_;
  const Index k_;
  Vec logit_;           // prior log odds e_k of the K features; 0 for the offset
  const double* gram_;  // second moments G of the loadings over the observed columns of the row
  Vec own_gram_;        // storage for G if the row has missing cells
  std::vector<int> gaps_of_own_;
  const double* g_ = nullptr;
  Vec nu_, field_;           // probabilities ν of the features, and the product Gν
  Index first_ = 0;          // feature after the offset at which sweeps begin
  std::vector<int> active_;  // with L > 0: the features that a sweep includes
  Vec scores_;
};

}  // namespace bnpvi::features
