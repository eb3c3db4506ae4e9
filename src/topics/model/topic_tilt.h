// Priors of documents' proportions that depend on covariates: common proportions, multiplied by exponential
// factors.
#pragma once
#include "foundation/named_array.h"
#include "hdp/sticks.h"

namespace bnpvi::topics {

/// The prior of documents whose proportions depend on covariates. A document with covariate pattern c has the
/// covariates x_c (P numbers). Its proportions of topics k are
///
///   π_d ~ Dirichlet(a_c),   a_ck = απ_k exp(x_c'λ_k),  a_c,K+1 = απ_{K+1},   λ_k ~ N(0, s² I),
///
/// π are the weights that all documents share, from sticks [Mimno & McCallum 2008, with the top level of an
/// HDP].
struct TopicTilt {
  Index patterns = 1;   // C
  Index columns = 0;    // P
  Vec x;                // C × P, row-major
  Vec more_variance;    // C, or empty: what is added to x_c'S_k x_c, of levels that the fit has not seen
  double variance = 1;  // s²
  double alpha;         // α
};

/// The statistics of documents that determine the effect of covariates on one topic. users: for each
/// covariate pattern, the number of documents d that use the topic. slope: Σ_d ψ(θ_dk) over these.
struct TopicCounts {
  Vec users, slope;  // C
};

/// The posterior q(λ_k) = N(m, S) of the effects of P covariates on one topic k.
class TopicEffect {
 public:
  /// Begins with effects of 0 and hardly any variance.
  explicit TopicEffect(const TopicTilt& tilt);
  /// Reads effects from width() numbers: the mean m, then the lower triangle of the precision S⁻¹, packed by
  /// rows.
  TopicEffect(const TopicTilt& tilt, const double* stored);

  static Index width(const TopicTilt& tilt) { return tilt.columns + tilt.columns * (tilt.columns + 1) / 2; }
  void store(double* to) const;

  const Vec& mean() const { return mean_; }
  Index columns() const { return tilt_->columns; }
  Vec covariance() const;                                                               // S, P × P
  double log_factor(Index c) const { return log_factor_[c]; }                           // log E exp(x_c'λ)
  double divergence() const { return divergence_; }                                     // KL(q ‖ prior)
  double slope(Index c) const { return slope_[c]; }                                     // x_c'm
  double variance(Index c) const { return variance_[c]; }                               // x_c'S x_c
  double factor(Index c) const { return factor_[c]; }                                   // E exp(x_c'λ)
  double square(Index c) const { return factor_[c] * factor_[c] * spread_factor_[c]; }  // E exp(2 x_c'λ)

 private:
  friend class EffectSearch;
  void take_precision();
  void take_mean();

  const TopicTilt* tilt_;
  Vec mean_, precision_;               // P, P × P
  Vec root_;                           // L⁻¹ with S⁻¹ = L Lᵀ
  Vec slope_, variance_, log_factor_;  // C
  Vec factor_, spread_factor_;         // C; spread_factor_: exp of variance_
  double spread_ = 0, divergence_ = 0;
};

/// A quadratic model of a TopicPart without its term −KL. It is expanded about a mean m of the effect and a
/// place (log E π_k, Var π_k). If log E π_k moves by ℓ, the best mean in the model is m + step + ℓ follow,
/// and the value at this mean changes by
///   slope ℓ − ½ curvature ℓ² + by_variance (Var π_k − variance)
/// and a constant.
struct TopicModel {
  RoundedSum value;                      // of the part without −KL, at the place
  double log_mean, variance;             // the place
  double slope, curvature, by_variance;  // curvature ≥ 0
  Vec step, follow;                      // P
  Vec precision;                         // P × P: the fixed point of S⁻¹ (TopicPart::widened) there
};

/// The part of the ELBO that depends on the effects λ_k of covariates on topic k. With e = exp(x_c'λ_k) and a
/// = α E e E π_k, for n_c documents with pattern c, f_c the sum of the slopes of their tangents
/// (TopicScalar), and users_c and slope_c the statistics of the documents that use the topic (TopicCounts),
/// it is
///
///   Σ_c { a (slope_c + f_c) + (n_c − users_c) log Γ(a) + n_c [log α + x_c'm − g_c] } − KL(q(λ_k)),
///   g_c = min{ E π_k [log Γ(1 + α E e) + ½ ζ(2) α² Var e],  log Γ(1 + a) + ½ ζ(2) α² Var(e π_k) }
///       ≥ E log Γ(1 + α e π_k).
///
/// The second bound in g_c holds because log Γ(1 + y)'' ≤ ζ(2). E log π_k is part of another term. With
/// effects of 0 without variance, g is that of DirichletRows. During a search the choice between the two
/// bounds is fixed, since their minimum has a kink.
class TopicPart {
 public:
  /// n: the number of documents with each covariate pattern; f: the sums of the slopes of their tangents
  /// (TopicScalar).
  TopicPart(const TopicTilt& tilt, const Vec& n, const Vec& f);

  /// For each covariate pattern, whether the second of the two bounds whose minimum is g_c (see TopicPart) is
  /// the lower one.
  std::vector<char> choose(const TopicEffect& effect, double mean, double variance) const;

  /// The part of the ELBO without −KL(q(λ_k)), at E π_k = mean and Var π_k = variance. second: the result of
  /// choose(), or null for the lower bound of each term here. If by_mean and by_variance are not null, the
  /// derivatives in mean and variance are added to them.
  RoundedSum value(const TopicCounts& counts, const TopicEffect& effect, const std::vector<char>* second,
                   double mean, double variance, double* by_mean, double* by_variance) const;

  /// The quadratic model at E π_k = mean and Var π_k = variance.
  TopicModel model(const TopicCounts& counts, const TopicEffect& effect, double mean, double variance) const;
  /// The effect with the model's precision and best mean at this log E π_k.
  TopicEffect moved(const TopicEffect& from, const TopicModel& model, double log_mean) const;
  /// Can numbers with this effect be computed without overflow?
  bool is_within(const TopicEffect& effect) const;

  /// The effect with the best mean at its present precision, found by L-BFGS that starts at the present mean.
  TopicEffect with_best_mean(const TopicCounts& counts, const TopicEffect& from,
                             const std::vector<char>& second, double mean, double variance) const;
  /// The effect after a step of its precision to its fixed point: I/s² plus twice the derivative of the loss
  /// by x_c'S x_c. The step is halved where the value would fall.
  TopicEffect widened(const TopicCounts& counts, const TopicEffect& from, const std::vector<char>& second,
                      double mean, double variance) const;

 private:
  friend class EffectSearch;
  const TopicTilt& tilt_;
  const Vec &n_, &f_;
  std::vector<Index> used_;  // patterns that documents have
};

}  // namespace bnpvi::topics
