// Responses: values that documents have in addition to their tokens, and that depend on the documents'
// topics.
#pragma once
#include <memory>
#include <vector>

#include "inference/data/share_table.h"
#include "inference/data/summary.h"

namespace bnpvi::topics {

/// The distribution of the response y of a document given the predictor f = η'z̄ + η_x'x. η: effects of
/// topics. z̄: proportions of topics among the document's tokens; they sum to 1, so η includes the intercept.
/// η_x: effects of covariates. x: covariates of the document. hinge and tube are loss functions, used in
/// place of −log densities.
enum class ResponseFamily {
  gaussian,  // y ~ N(f, σ²), 1/σ² ~ Gamma(df/2, scale/2), η | σ² ~ N(0, σ²/precision)
  logistic,  // y = 1 with probability 1/(1 + e^−f), else 0; η ~ N(0, 1/precision), as for hinge and tube
  hinge,     // cost · max(0, 1 − y f), y = ±1 [Zhu, Ahmed & Xing 2012]
  tube       // cost · max(0, |y − f| − epsilon)
};

/// Prior of the effects η of topics and covariates on the responses. A response with C classes has C − 1
/// equations. Equation c compares class c with all later classes.
struct ResponsePrior {
  ResponseFamily family = ResponseFamily::gaussian;
  Index equations = 1;   // each equation has separate effects η
  Index covariates = 0;  // m, number of covariates
  double precision = 1;
  double df = 3, scale = 1;
  double variance = 0;  // gaussian responses: known σ²; 0: not known, with the prior above
  double cost = 1, epsilon = 0;
  double weight = 1;  // ρ: factor of the responses' part of the objective
};

/// The log density of a response as a quadratic function of its predictor f: −½ω f² + b f + constant. For
/// gaussian responses it is exact. For others it is a lower bound that touches the log density at a point ξ.
/// Each document has its own ξ: these are the local numbers of the document.
struct Quadratic {
  double omega, b, constant;
};

/// The posterior q(η) of the effects η in each equation, in the form that visits of documents use. There are
/// w = K + m coefficients: K topics, m covariates. linear: E η; second: E ηη'. For gaussian responses, with
/// noise variance σ², they are E η/σ² and E ηη'/σ².
struct ResponsePosterior {
  struct Equation {
    Vec mean, linear;        // mean: E η; linear: see above; w numbers each
    Vec covariance, second;  // w × w each; covariance: for gaussian responses divided by σ²
  };
  Index size = 0;  // w, the number of coefficients
  std::vector<Equation> equation;
  double df = 0, scale = 0;                 // 1/σ² ~ Gamma(df/2, scale/2), unless it is known
  double precision = 1, log_precision = 0;  // E 1/σ² and E log 1/σ²; not gaussian: 1 and 0
};

/// The model of the responses of all documents. Document d has a response y, with log density (or bound) −½ω
/// f² + b f + constant (see Quadratic), covariates x, and proportions z̄ of topics among its N_d tokens. E
/// z̄_k = N_dk / N_d, with N_dk its expected tokens of topic k. E z̄z̄' is replaced by an upper bound that
/// depends on these counts alone,
///   Q_d = (1 − 1/N_d) E z̄ E z̄' + diag(E z̄) / N_d ≥ E z̄z̄'.
/// The inequality is Jensen's; it is an equality if all tokens of d have the same responsibilities. The
/// optimal q(η) is then conjugate. Its evidence is a function of these sums over documents, which are added
/// up when topics are joined:
///   for each equation and pair of topics: Σ ω Q
///   for each equation and topic (on the diagonal of pairs): Σ b E z̄; for each covariate Σ ω x E z̄
///   for each equation: Σ 1, Σ constant (gaussian: Σ y²), Σ b x (m numbers), Σ ω xx' (packed)
/// Each document has equations + m values: its responses (NaN: not known), then its m covariates.
class ResponseModel {
 public:
  explicit ResponseModel(const ResponsePrior& prior) : prior_(prior) {}

  const ResponsePrior& prior() const { return prior_; }
  Index n_values() const { return prior_.equations + prior_.covariates; }
  Index n_pairs() const { return prior_.equations * (2 + prior_.covariates); }
  Index n_scalars() const { return prior_.equations * scalars_each(); }
  /// Number of local numbers (parameters of the bound on the log density) that a document's response has in
  /// each equation.
  Index n_local() const;

  /// The quadratic −½ω f² + b f + constant for a response y. local: local numbers of the document (parameters
  /// of the bound); null: those of a document that has not been visited yet.
  Quadratic quadratic(double y, const double* local) const;
  /// Finds the best local numbers (parameters of the bound) for a response y, and writes them to `local`.
  /// mean, square: the expectations E f and E f² of its predictor f. Returns the expectation of the
  /// response's part of the bound at these numbers.
  double best(double y, double mean, double square, double* local) const;

  /// Adds the response of a document to the statistics `to`, multiplied by `times`. value: responses and
  /// covariates; local: local numbers (parameters of the bound); length: number of tokens; share: topics and
  /// counts.
  void add(const double* value, const double* local, double length, double times, Shares share,
           Summary& to) const;

  /// Number of known responses in the statistics of a summary.
  double n_known(const Summary& s) const;

  /// The residual b − ω E f of a document's response, in the equation where its absolute value is largest;
  /// NaN if no response is known. For gaussian responses it is proportional to y − E f. value: responses and
  /// covariates; length: number of tokens; share: topics and counts.
  double residual(const double* value, double length, Shares share, const ResponsePosterior& q) const;

  /// Divides a topic's part of the responses' statistics into equal parts for the topic itself and n_born new
  /// topics. All of them then have about the same effects η on the responses.
  void divide(Summary& s, Index topic, Index first_born, Index n_born) const;

  ResponsePosterior posterior(const Summary& effective) const;

  /// The responses' term of the ELBO for the statistics `total`, under the posterior q(η) that is optimal for
  /// other statistics, `effective`.
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
