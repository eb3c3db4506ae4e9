// Responses of Gaussian rows that are missing, expected given those that are there.
#pragma once
#include "observations/missing_pattern.h"
#include "observations/obs_wishart.h"

namespace bnpvi {

/// Rows that lack the same responses of a model, v_m, and have the others, v_o. With A the symmetric matrix
/// of a cluster's weights, ⟨φ(x), w⟩ = const + ½ vᵀAv: q(v_m) = N(G v_o, V), V = −A_mm⁻¹, G = V A_mo. Their
/// reduced features are φ_0 and the second moments of v_o, packed as those of v are.
///
/// w and t: weights and statistics with the model's features, of which those of v vᵀ are read and written.
class ExpectedResponses {
 public:
  ExpectedResponses(const WishartModel& model, const MissingCells& missing);

  /// V and G of a cluster, and ½|m| log 2π + ½ log|V|.
  struct Given {
    Vec g, v;  // |m| × |o|, |m| × |m|
    double log_normaliser;
  };
  Given given(const double* w) const;

  Index n_seen() const { return n_o_; }
  Index n_missing() const { return n_m_; }
  Index n_squares() const { return n_o_ * (n_o_ + 1) / 2; }
  const std::vector<Index>& seen() const { return o_; }  // coordinates
  const Vec& cells() const { return cell_; }             // WishartModel::cells() of these
  double log_unit() const { return log_unit_; }          // Σ log unit of the missing responses

  /// v_o of rows, n × n_seen().
  void gather(const Dataset& data, const Index* rows, Index n, double* out) const;

  /// squares: A'_oo = A_oo + A_om V A_mo = A_oo + A_om G, as weights of the second moments of v_o.
  void weights(const double* w, const Given& q, double* squares) const;

  /// Adds E T of rows with these sums to t: squares = Σ r v_o v_oᵀ; count = Σ r, by which V enters.
  void expand(const Given& q, double count, const double* squares, double* t) const;

 private:
  Index offset() const { return model_.offset(); }
  double second(const double* w, Index i, Index j) const;

  const WishartModel& model_;
  std::vector<Index> o_, m_;
  Index n_o_, n_m_;
  Vec cell_;
  double log_unit_ = 0;
};

}  // namespace bnpvi
