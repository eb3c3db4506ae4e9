// Gaussian clusters whose means take random steps over time.
#pragma once
#include <memory>
#include <vector>

#include "observations/capabilities.h"
#include "observations/drift_path.h"
#include "observations/gather.h"
#include "observations/gaussian_prior.h"
#include "observations/linalg.h"
#include "observations/obs_models.h"

namespace bnpvi {

/// The prior of a Gaussian cluster whose mean takes a random step N(0, drift gap_t Σ) from time t to t + 1. Σ
/// is its full or diagonal covariance. If `gap` is empty, there is one time. The last column of the data,
/// after those of the prior, is the number of each row's time, from 1. learn: whether the drift is learned,
/// as the value for which Σ_k Λ(T_k), the log evidence of the clusters, is largest.
struct DriftingGaussianPrior {
  GaussianPrior gaussian;  // prior at the first time; its learning and its gaps in cells are not used
  bool full;
  double drift;
  Vec gap;
  bool learn;
};

/// Gaussian clusters of D columns whose mean changes over times 1 .. T [West & Harrison 1997, §16.4]. The
/// columns form J blocks of d, independent given the cluster: J = 1 for a full covariance, d = 1 for a
/// diagonal one.
///
/// The features of a row x̃ (in engine units) are φ = (1; the packed triangle of x̃x̃ᵀ of each block; for
/// each time 1 and x̃, which are 0 except at the time of the row). So statistics are T = (N, S_xx; N_1, S_1;
/// ...; N_T, S_T). κ and μ are those of the Kalman filter of the path of the mean (DriftPath). ν and B are
/// the parameters of the Wishart prior of the precision, and Z is the normaliser of a Wishart density. Then
///   B̂ = B + S_xx + Σ_t [κ_{t|t−1} μ_{t−1}μᵀ_{t−1} − κ_{t|t} μ_tμ_tᵀ],  ν̂ = ν + N,
///   Λ(T) = ½D Σ_t log(κ_{t|t−1}/κ_{t|t}) + log Z(ν̂, B̂) − log Z(ν, B) − (ND/2) log 2π − N Σ log unit,
///   E log p(x | t) = ½[E log|Λ| − D log 2π − D v̄_t − ν̂ (x − μ̄_t)ᵀB̂⁻¹(x − μ̄_t)].
/// At each time, mean and precision are Normal–Wishart with mean μ̄_t, strength 1/v̄_t, ν̂ and B̂.
class GaussianDrift final : public ObsModel,
                            public SparseEntries,
                            public ColumnUnits,
                            public LearnedPrior,
                            public ForgetsTimes {
 public:
  explicit GaussianDrift(const DriftingGaussianPrior& given);

  Index n_features() const override { return first_slot() + path_.times() * (1 + columns()); }
  Index n_columns() const override { return columns() + 1; }
  Index n_dense() const override { return first_slot(); }
  Capabilities capabilities() const override;
  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override;
  void dense_features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override;
  void entries(const Dataset& data, const Index* rows, Index n, Entries& out) const override;

  double strain() const override;
  void re_express(const ObsModel& from, double* t) const override;

  /// The same model with a drift (variance of the mean's steps) for which Σ_k Λ(T_k), the log evidence of the
  /// clusters, is largest. The search is near the present drift.
  std::shared_ptr<const ObsModel> learned(const double* t, Index k, PriorSteps steps,
                                          Pool* pool) const override;
  NamedArrays learned_fields() const override;

  double log_evidence(const double* t) const override;
  void weights(const double* t, double* w) const override;
  double evidence_and_weights(const double* t, double* w) const override;

  /// The point estimate of a cluster is N(μ̄_t, Σ) at time t. μ̄_t: posterior mean at time t; Σ: as for
  /// Gaussian clusters without drift. Times have the proportions of the cluster's rows, or equal ones if it
  /// has no rows.
  void point_estimate(const double* t, double* mean, double* w) const override;

  /// Draws the precision Λ through its root A = C L⁻¹: L is the Cholesky factor of the posterior scale B̂,
  /// and C a random lower triangular matrix, as in obs_wishart.h [Bartlett 1933]. Then draws the path of the
  /// mean θ in the coordinates A θ.
  void draw(const double* t, Stream& stream, double* w) const override;

  /// The log density of a Student-t distribution in each block of columns. Its centre μ̄_t is the mean at the
  /// time of the row.
  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override;

  /// Drops the first g = `gone` times: returns the cluster's statistic under the model of the times from g
  /// on. In that model the prior of the first time has the strength κ_g = κ_{g|g−1} of a cluster without rows
  /// (strength_at). Let μ_g and κ_{g|g} be the mean and strength that the Kalman filter has at time g, and m
  /// the prior mean. They and B̂ are restored by a statistic with count N and sum S at the new first time,
  /// and these squares instead of S_xx:
  ///   N = κ_{g|g} − κ_g,  S = κ_{g|g} μ_g − κ_g m,
  ///   S_xx + Σ_{t≤g} [κ_{t|t−1} μ_{t−1}μᵀ_{t−1} − κ_{t|t} μ_tμ_tᵀ] + κ_{g|g} μ_gμ_gᵀ − κ_g mmᵀ.
  /// The filter is exact, so that the log evidence of any further rows changes by a constant only, which is
  /// added to `constant`.
  Vec condensed(const double* t, Index gone, double& constant) const override;
  double strength_at(Index time) const override;  // κ_{t|t−1} of a cluster without rows; 0: the first time

  NamedArrays posterior(const double* t, Index k) const override;
  NamedArrays mean_parameters(const double* t, Index k) const override;

 private:
  struct Posterior {
    Posterior(const GaussianDrift& model, const double* t);
    DriftPath path;
    double df;
    std::vector<Cholesky> factor;  // Cholesky factor of B̂ of each block
    double log_det = 0;
  };
  Posterior smoothed(const double* t) const;

  Index columns() const { return columns_.size(); }
  Index first_slot() const { return 1 + moments_; }
  Index slot_at(Index s) const { return first_slot() + s * (1 + columns()); }
  Index moment(Index block, Index i, Index j) const { return block * packed(d_, 0) + packed(i, j); }
  void add_square(double c, const double* x, double* moments) const;  // moments += c xxᵀ
  std::vector<Cholesky> factors(const Vec& moments) const;  // Cholesky factors; no pivot is below the prior's

  double log_z(const Posterior& q) const;
  double log_evidence(const double* t, const Posterior& q) const;
  void weights(Posterior& q, double* w) const;
  /// Writes the weights of all features but φ_0 for a log density that is quadratic in the row x at time t:
  /// −½ df (x − μ̄_t)ᵀB̂⁻¹(x − μ̄_t) − ½ spread v̄_t. μ̄_t, v̄_t: posterior mean and variance at time t; B̂:
  /// posterior scale.
  void natural(const Posterior& q, double df, double spread, double* w) const;

  NamedArray means(const double* t, Index k) const;  // μ̄_t in the user's units, K × D × T
  /// The posterior scale B̂ of the covariance of K clusters in the user's units, D × D × K. If `mean`, it is
  /// divided by ν̂ − d − 1, which gives E Σ; infinite if this mean does not exist.
  NamedArray squares(const char* name, bool mean, const double* t, Index k) const;

  DriftingGaussianPrior given_;
  Columns columns_;
  Index d_, blocks_, moments_;
  DriftPrior path_;  // prior of the path, in engine units
  Vec scale_;        // B, the scale: packed triangle of each block
  Vec least_pivot_;
  double row_constant_ = 0, log_z_prior_ = 0;
};

}  // namespace bnpvi
