// Missing responses of Gaussian rows, replaced by their expectation given the row's observed values.
#pragma once
#include "observations/missing_pattern.h"
#include "observations/obs_wishart.h"

namespace bnpvi {

/// The expectation of missing responses, for rows with regressors z and responses y that all lack the same
/// responses. Let v = (z, y), with missing part v_m and known part v_o. The weights w of a cluster form a
/// symmetric matrix A with ⟨φ(x), w⟩ = const + ½ vᵀAv. Then q(v_m) = N(G v_o, V) with V = −A_mm⁻¹ and G = V
/// A_mo. Without v_m a row has the reduced features (missing_pattern.h): the first feature φ_0, the count,
/// and the products of v_o v_oᵀ, packed like those of v vᵀ.
///
/// Arguments w and t are weights and statistics of all features of the model. Only the entries for v vᵀ are
/// read or written.
class ExpectedResponses {
 public:
  ExpectedResponses(const WishartModel& model, const MissingCells& missing);

  /// The distribution N(G v_o, V) of the missing responses v_m in one cluster, given v_o (regressors and
  /// observed responses), and its constant ½|m| log 2π + ½ log|V|.
  struct Given {
    Vec g, v;  // G (|m| × |o|) and V (|m| × |m|)
    double log_normaliser;
  };
  Given given(const double* w) const;

  Index n_seen() const { return n_o_; }
  Index n_missing() const { return n_m_; }
  Index n_squares() const { return n_o_ * (n_o_ + 1) / 2; }
  const std::vector<Index>& seen() const { return o_; }  // the observed coordinates o of v
  const Vec& cells() const { return cell_; }             // WishartModel::cells() of the observed coordinates
  double log_unit() const { return log_unit_; }          // Σ log unit of the missing responses

  /// Writes v_o, the regressors and observed responses, of n rows into out, n × n_seen().
  void gather(const Dataset& data, const Index* rows, Index n, double* out) const;

  /// Writes A'_oo = A_oo + A_om V A_mo = A_oo + A_om G into `squares`. These are the weights of the second
  /// moments of v_o after the missing v_m have been integrated out.
  void weights(const double* w, const Given& q, double* squares) const;

  /// Adds the expected statistic of some rows with responsibilities r to t. squares: Σ r v_o v_oᵀ. count: Σ
  /// r, by which V is multiplied.
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
