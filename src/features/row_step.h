// The features of one row.
#pragma once
#include <cmath>

#include "features/local_step.h"
#include "foundation/random.h"

namespace bnpvi::features {

/// h₂(ν) = −ν log ν − (1 − ν) log(1 − ν), from ν and 1 − ν.
inline double binary_entropy(double nu) {
  return nu > 0 && nu < 1 ? -nu * std::log(nu) - (1 - nu) * std::log1p(-nu) : 0;
}

/// Coordinate ascent over ν of one row at a time; scratch of one thread.
class RowStep {
 public:
  RowStep(const LocalModel& model, const RowBatch& batch);

  /// Makes row i of the batch, of which g (K numbers) is τ̂ M x, the present one.
  void begin(Index i, const double* g);
  /// ν as given (K numbers, the offset's 1).
  void set(const double* nu);
  /// ν = σ(e_k + g_k − ½ G_kk − G_k0), from the evidence of each feature alone.
  void set_alone();
  void sweep(Index most);
  /// Two features of those swept last are taken, or left, or exchanged at once, where that raises the bound
  /// most, as if all others stayed as they are: with c = 1 − 2ν rounded, the gain is c_i s_i + c_j s_j − c_i
  /// c_j G_ij, s the logits. Single steps cannot leave such optima. False: no pair promises to.
  bool exchange();
  /// Draws the features one after the other, each given the others: ν is 0 or 1 before and after.
  void draw(Stream& stream);
  /// g·ν − ½[νᵀGν + Σ_k G_kk ν_k(1 − ν_k)] + e·ν + Σ h₂(ν).
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
  Vec logit_;           // of all K; 0 of the offset
  const double* gram_;  // of the present row
  Vec own_gram_;        // where it has gaps
  std::vector<int> gaps_of_own_;
  const double* g_ = nullptr;
  Vec nu_, field_;           // ν and Gν
  Index first_ = 0;          // where sweeps begin, behind the offset
  std::vector<int> active_;  // with L > 0: the features swept
  Vec scores_;
};

}  // namespace bnpvi::features
