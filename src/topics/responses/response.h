// Responses: values that documents have in addition to their tokens, and that depend on the documents'
// topics.
#pragma once
#include <memory>
#include <vector>

#include "inference/data/share_table.h"
#include "inference/data/summary.h"

namespace bnpvi::topics {

/// The distribution of the response y of a document given the predictor f = η'z̄ + η_x'x. η, η_x: effects of
/// topics and of covariates. z̄: shares of the topics among the tokens of the document; they sum to 1, so η
/// includes the intercept. x: covariates of the document. hinge and tube are loss functions, not
/// distributions.
enum class ResponseFamily {
  gaussian,  // y ~ N(f, σ²), 1/σ² ~ Gamma(df/2, scale/2), η | σ² ~ N(0, σ²/precision)
  logistic,  // y = 1 with probability 1/(1 + e^−f), else 0; η ~ N(0, 1/precision), as below
  hinge,     // cost · max(0, 1 − y f), y = ±1 [Zhu, Ahmed & Xing 2012]
  tube       // cost · max(0, |y − f| − epsilon)
};

/// Prior of the effects η of topics and covariates on the responses. A response with C classes has C − 1
/// equations, each of one class against all later ones.
struct ResponsePrior {
  ResponseFamily family = ResponseFamily::gaussian;
  Index equations = 1;   // number of equations, each with a separate η
  Index covariates = 0;  // m, number of covariates
  double precision = 1;
  double df = 3, scale = 1;
  double variance = 0;  // gaussian responses: known σ²; 0: not known, with the prior above
  double cost = 1, epsilon = 0;
  double weight = 1;  // ρ: factor of the responses' part of the objective
};

/// The log density of a response as a quadratic in its predictor f: −½ω f² + b f + constant. It is exact for
/// gaussian responses. For others it is a lower bound that touches the log density at points ξ, which differ
/// between documents: the local numbers of a document.
struct Quadratic {
  double omega, b, constant;
};

/// The posterior q(η) of the effects in each equation, in the form that documents use. With w = K + m
/// coefficients (K topics, m covariates), `linear` is E η and `second` E ηη'; for gaussian responses they are
/// E η/σ² and E ηη'/σ².
struct ResponsePosterior {
  struct Equation {
    Vec mean, linear;        // E η, and in the form that documents use; w numbers each
    Vec covariance, second;  // w × w each; covariance: for gaussian responses divided by σ²
  };
  Index size = 0;  // w, the number of coefficients
  std::vector<Equation> equation;
  double df = 0, scale = 0;                 // 1/σ² ~ Gamma(df/2, scale/2), unless it is known
  double precision = 1, log_precision = 0;  // E 1/σ² and E log 1/σ²; not gaussian: 1 and 0
};

/// The model of the responses of all documents. A response has the log density (or bound) −½ω f² + b f +
/// constant (see Quadratic), and its document the covariates x and the shares z̄ of topics. With E z̄_k =
/// N_dk / N_d and an upper bound of E z̄z̄' that depends on counts alone,
///   Q_d = (1 − 1/N_d) E z̄ E z̄' + diag(E z̄) / N_d ≥ E z̄z̄'  (Jensen; equal where all tokens share one r),
/// the optimal q(η) is conjugate, and its evidence a function of the following sums, which add up when topics
/// are joined:
///   pairs of topics, for each equation: Σ ω Q;  on the diagonal alone Σ b E z̄ and, for each covariate,
///     Σ ω x E z̄
///   scalars, for each equation: Σ 1, Σ constant (gaussian: Σ y²), Σ b x (m), Σ ω xx' (packed)
/// A document has equations + m numbers: its responses (NaN: not known) and its m covariates.
class ResponseModel {
 public:
  explicit ResponseModel(const ResponsePrior& prior) : prior_(prior) {}

  const ResponsePrior& prior() const { return prior_; }
  Index n_values() const { return prior_.equations + prior_.covariates; }
  Index n_pairs() const { return prior_.equations * (2 + prior_.covariates); }
  Index n_scalars() const { return prior_.equations * scalars_each(); }
  /// The number of local numbers (parameters of the bound on the log density) of a document's response in
  /// each equation.
  Index n_local() const;

  /// The quadratic −½ω f² + b f + constant for a response y, at the local numbers `local` of its document; if
  /// null, at the local numbers of a document that has not been visited yet.
  Quadratic quadratic(double y, const double* local) const;
  /// Sets `local` to the best local numbers (parameters of the bound) for a response y whose predictor f has
  /// expectations E f = mean and E f² = square. Returns the expectation of the response's part of the bound
  /// at these numbers.
  double best(double y, double mean, double square, double* local) const;

  /// Adds the contribution of a document, multiplied by `times`, to the statistics. share: topics and counts
  /// of the document; value: its responses and covariates; local: its local numbers; length: its number of
  /// tokens.
  void add(const double* value, const double* local, double length, double times, Shares share,
           Summary& to) const;

  /// Number of known responses in the statistics of a summary.
  double n_known(const Summary& s) const;

  /// The residual b − ω E f of a document's response (for gaussian responses proportional to y − E f), in the
  /// equation where it is largest in absolute value; NaN if no response is known. share: topics and counts of
  /// the document.
  double residual(const double* value, double length, Shares share, const ResponsePosterior& q) const;

  /// Divides a topic's part of the responses' statistics evenly among the topic and n_born new ones, which
  /// then have about the same effects η on the responses.
  void divide(Summary& s, Index topic, Index first_born, Index n_born) const;

  ResponsePosterior posterior(const Summary& effective) const;

  /// The responses' term of the ELBO for the statistics `total`, under the posterior q(η) of effects that is
  /// optimal for the statistics `effective`.
  double value(const Summary& total, const Summary& effective) const;

 private:
  Index scalars_each() const {
    const Index m = prior_.covariates;
    return 2 + m + m * (m + 1) / 2;
  }
  struct Solved;
  Solved solve(const Summary& s, Index equation) const;
  double evidence(const Summary& s) const;

  const ResponsePrior prior_;
};

}  // namespace bnpvi::topics
