// Gaussian clusters whose means take a random step between times.
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

/// A Gaussian of full or diagonal covariance whose mean takes a random step N(0, drift gap_t Σ) between a
/// time and the next, Σ the cluster's covariance; without gaps there is one time. The last column of the data
/// (which then have one more than the prior) is the time of each row, from 1. learn: drift is the value under
/// which Σ Λ is highest.
struct DriftingGaussianPrior {
  GaussianPrior gaussian;  // of the first time; its own learning and gaps in cells are not for it
  bool full;
  double drift;
  Vec gap;
  bool learn;
};

/// Columns in J blocks of d, independent given the cluster (NormalWishart): J = 1 for a full covariance, d =
/// 1 for a diagonal one. φ = (1, the packed triangle of each block's x̃x̃ᵀ; and for each time 1 and x̃, zero but
/// for the row's own time), T = (N, S_xx; N_1, S_1; ...; N_T, S_T). With the path of the means (DriftPath),
///   B̂ = B + S_xx + Σ_t [κ_{t|t−1} μ_{t−1}μᵀ_{t−1} − κ_{t|t} μ_tμ_tᵀ],  ν̂ = ν + N,
///   Λ(T) = ½D Σ_t log(κ_{t|t−1}/κ_{t|t}) + log Z(ν̂, B̂) − log Z(ν, B) − (ND/2) log 2π − N Σ log unit,
///   E log p(x | t) = ½[E log|Λ| − D log 2π − D v̄_t − ν̂ (x − μ̄_t)ᵀB̂⁻¹(x − μ̄_t)]  [West & Harrison 1997,
///   §16.4].
/// At each time mean and precision are Normal–Wishart: mean μ̄_t, strength 1/v̄_t, ν̂ and B̂.
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

  /// The step size under which Σ Λ is highest, near the present one.
  std::shared_ptr<const ObsModel> learned(const double* t, Index k, PriorSteps steps,
                                          Pool* pool) const override;
  NamedArrays learned_fields() const override;

  double log_evidence(const double* t) const override;
  void weights(const double* t, double* w) const override;
  double evidence_and_weights(const double* t, double* w) const override;

  /// N(μ̄_t, Σ) at the cluster's own share of rows at each time (all the same where it has none), Σ as for
  /// clusters that stay.
  void point_estimate(const double* t, double* mean, double* w) const override;

  /// A root A = C L⁻¹ of Λ by Bartlett's C (obs_wishart.h), and the path in its coordinates.
  void draw(const double* t, Stream& stream, double* w) const override;

  /// Student-t around μ̄_t in each block.
  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override;

  /// What a cluster says of times to come once its first `gone` ones are given up: its statistic under the
  /// model of the times from the last of these on, in which it begins with strength κ_{gone|gone−1} of a
  /// cluster without rows (strength_at) and has what makes its filtered mean, strength and B̂ of that time as
  /// before:
  ///   N = κ_{g|g} − κ_g,  S = κ_{g|g} μ_g − κ_g m,  S_xx + Σ_{t≤g} [κ_{t|t−1} μ_{t−1}μᵀ_{t−1} − κ_{t|t}
  ///   μ_tμ_tᵀ]
  ///   + κ_{g|g} μ_gμ_gᵀ − κ_g mmᵀ.
  /// A filter is exact, so that Λ of any further rows is what it was, but for a constant, which is added to
  /// `constant`.
  Vec condensed(const double* t, Index gone, double& constant) const override;
  double strength_at(Index time) const override;  // κ_{t|t−1} of a cluster without rows; 0: the first time

  NamedArrays posterior(const double* t, Index k) const override;
  NamedArrays mean_parameters(const double* t, Index k) const override;

 private:
  struct Posterior {
    Posterior(const GaussianDrift& model, const double* t);
    DriftPath path;
    double df;
    std::vector<Cholesky> factor;  // of B̂, block by block
    double log_det = 0;
  };
  Posterior smoothed(const double* t) const;

  Index columns() const { return columns_.size(); }
  Index first_slot() const { return 1 + moments_; }
  Index slot_at(Index s) const { return first_slot() + s * (1 + columns()); }
  Index moment(Index block, Index i, Index j) const { return block * packed(d_, 0) + packed(i, j); }
  void add_square(double c, const double* x, double* moments) const;  // moments += c xxᵀ
  std::vector<Cholesky> factors(const Vec& moments) const;            // no pivot is below the prior's

  double log_z(const Posterior& q) const;
  double log_evidence(const double* t, const Posterior& q) const;
  void weights(Posterior& q, double* w) const;
  /// −½ df (x − μ̄_t)ᵀB̂⁻¹(x − μ̄_t) − ½ spread v̄_t as weights of features, all but φ_0.
  void natural(const Posterior& q, double df, double spread, double* w) const;

  NamedArray means(const double* t, Index k) const;  // μ̄_t in the user's units, K × D × T
  /// B̂ in the user's units, D × D × K, divided by ν̂ − d − 1 if `mean`: infinite where that does not exist.
  NamedArray squares(const char* name, bool mean, const double* t, Index k) const;

  DriftingGaussianPrior given_;
  Columns columns_;
  Index d_, blocks_, moments_;
  DriftPrior path_;  // in engine units
  Vec scale_;        // B, blocks of packed triangles
  Vec least_pivot_;
  double row_constant_ = 0, log_z_prior_ = 0;
};

}  // namespace bnpvi
