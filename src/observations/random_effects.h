// Regressions in which each individual has coefficients of its own (random effects).
#pragma once
#include <memory>

#include "foundation/fields.h"
#include "observations/effects_rows.h"
#include "observations/individual_effects.h"
#include "observations/repeated_rows.h"

namespace bnpvi {

/// The model of the rows of an individual in a cluster: y = X b + Z a + ε, ε ~ N(0, σ²). a ~ N(μ, D) are the
/// coefficients of the individual. Priors: μ | D ~ N(m, D/κ), D⁻¹ Wishart; b | σ² ~ N(M, σ²V⁻¹), σ⁻² Gamma.
/// These are two conjugate models (EffectsBlock), one of a and one of y − Za. Their rows are replaced by
/// expectations under q(a). So Λ(T) is the sum of both log evidences and of the entropies of q(a). It is
/// exact for any q(a) from which the statistic was computed. Alternatively all clusters share D and σ². These
/// are then learned as single values under the same priors.
///
/// The data are sums over the rows of each individual (RepeatedRows of a regression). Regressors are z̃ = (x
/// − centre)/unit. The prior is one of coefficients around this centre, so the centre cannot be changed
/// later.
class RandomEffects final : public ObsModel,
                            public ExpectedCells,
                            public ColumnUnits,
                            public LearnedPrior,
                            public EffectsPredictive {
 public:
  struct Prior {
    bool intercept;
    std::vector<Index> random;
    Vec centre, unit;            // centre and unit of y, then of the covariates
    EffectsPrior effects, rows;  // priors in engine units: of a, and of y − Za
    bool independent = false;    // is D diagonal?
  };

  /// of_rows: the regression model of single rows, whose features are summed over the rows of an individual.
  /// offset: the number of its features before the second moments of regressors and response.
  RandomEffects(Prior prior, std::shared_ptr<const ObsModel> of_rows, Index offset);

  Index n_features() const override { return shape_.features; }
  Index n_columns() const override { return rows_.n_columns(); }
  Capabilities capabilities() const override;

  /// Writes the features of individuals. Their random effects have the distribution that they have in a
  /// cluster without data.
  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override;

  Index n_cells() const override { return 1; }
  bool all_rows() const override { return true; }
  std::vector<IncompleteRows> incomplete_rows(const Dataset& data, const Index* rows, Index n) const override;
  std::unique_ptr<const MissingPattern> pattern(const MissingCells& missing) const override;

  std::shared_ptr<const ObsModel> learned(const double* t, Index k, PriorSteps steps,
                                          Pool* pool) const override;
  double log_hyperprior() const override { return log_hyperprior_; }
  /// Whether all clusters share the covariance D of random effects and the noise variance σ². A proposal is
  /// then evaluated with the D and σ² that are best for it.
  bool has_occupied_term() const override { return shared(); }
  NamedArrays learned_fields() const override;

  void re_express(const ObsModel& from, double* t) const override;
  double strain() const override;

  double log_evidence(const double* t) const override;
  void weights(const double* t, double* w) const override { evidence_and_weights(t, w); }
  double evidence_and_weights(const double* t, double* w) const override;
  void point_estimate(const double* t, double* mean, double* w) const override;
  void draw(const double* t, Stream& stream, double* w) const override;
  NamedArrays posterior(const double* t, Index k) const override;
  NamedArrays mean_parameters(const double* t, Index k) const override;

  /// Log predictive density of the rows of n individuals in a cluster with statistic t. sums: sums over the
  /// rows of each individual. y − Za is N(Xb̂, Eσ²), with b̂ the posterior mean of the fixed coefficients;
  /// (a, b) is Gaussian with its moments under q.
  void predictive(const double* t, const double* sums, Index n, Index ld, double* out) const override;

  Index n_effects() const { return shape_.q; }
  /// q(a), the distribution of the random effects of all n individuals of the data in a cluster with
  /// statistic t, in the user's units: mean (n × q) and covariance (q × q × n), column-major. log_weight:
  /// receives log_pi + log ∫ exp⟨φ, w⟩ da for each individual (n numbers), its log weight in the cluster.
  void effects_of(const Dataset& data, const double* t, double log_pi, double* mean, double* covariance,
                  double* log_weight) const;

 private:
  bool shared() const { return !prior_.effects.known.empty(); }
  Index regressors() const { return shape_.q + shape_.p; }
  double unit_y() const { return prior_.unit[0]; }
  double unit(Index j) const { return j < first_ ? 1 : prior_.unit[1 + j - first_]; }
  double centre(Index j) const { return j < first_ ? 0 : prior_.centre[1 + j - first_]; }
  Vec to_users(const Vec& coef) const;  // all fixed coefficients in the user's units, E numbers
  Vec area_to_users(const Vec& area, bool random) const;  // q × q if random, else E × E
  Vec fixed(const EffectsPosterior& a, const EffectsPosterior& b) const;

  Prior prior_;
  Index first_;  // 1 with an intercept; otherwise 0
  EffectsShape shape_;
  std::shared_ptr<const ObsModel> of_rows_;
  RepeatedRows rows_;
  Index offset_;
  IndividualEffects effects_;
  EffectsBlock noise_;
  double log_hyperprior_ = 0;
};

/// Makes the model from the fields of a regression and: `effects`, the numbers from 0 of the regressors that
/// have random effects; `random_df`; `centred_random_scale`, the scale of the prior of D (q × q, for
/// coefficients around the centre). Optional: `shared_cov` (D, q × q) and `shared_noise` (σ²), if all
/// clusters share these; `independent`, true for a diagonal D.
std::unique_ptr<ObsModel> make_random_effects(const Fields& fields, std::shared_ptr<const ObsModel> of_rows,
                                              Index offset);

}  // namespace bnpvi
