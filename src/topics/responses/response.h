// What is known of documents beside their tokens, and follows from their topics: responses.
#pragma once
#include <memory>
#include <vector>

#include "inference/data/share_table.h"
#include "inference/data/summary.h"

namespace bnpvi::topics {

/// The distribution of a response given f = η'z̄ + η_x'x, with z̄ the share of each topic among the tokens of
/// the document (it sums to 1, so that η has the intercept) and x its covariates. Of hinges it is a loss.
enum class ResponseFamily {
  gaussian,  // y ~ N(f, σ²), 1/σ² ~ Gamma(df/2, scale/2), η | σ² ~ N(0, σ²/precision)
  logistic,  // y = 1 with probability 1/(1 + e^−f), else 0; η ~ N(0, 1/precision), as below
  hinge,     // cost · max(0, 1 − y f), y = ±1 [Zhu, Ahmed & Xing 2012]
  tube       // cost · max(0, |y − f| − epsilon)
};

struct ResponsePrior {
  ResponseFamily family = ResponseFamily::gaussian;
  Index equations = 1;   // each with an η of its own: of C classes C − 1, a class against all later ones
  Index covariates = 0;  // m
  double precision = 1;
  double df = 3, scale = 1;
  double variance = 0;  // of gaussian responses: σ², 0 where it is not known but has the prior above
  double cost = 1, epsilon = 0;
  double weight = 1;  // ρ: how often the responses' part of the objective counts
};

/// Every response is a quadratic in f, −½ω f² + b f + constant: exactly (gaussian), or a lower bound that
/// touches at numbers ξ of each document ("local").
struct Quadratic {
  double omega, b, constant;
};

/// q(η) of each equation as documents see it. With w = K + m numbers: `linear` is E η and `second` E ηη', of
/// gaussian responses E η/σ² and E ηη'/σ².
struct ResponsePosterior {
  struct Equation {
    Vec mean, linear;        // w
    Vec covariance, second;  // w × w; covariance: of gaussian responses divided by σ²
  };
  Index size = 0;  // w
  std::vector<Equation> equation;
  double df = 0, scale = 0;                 // 1/σ² ~ Gamma(df/2, scale/2), unless it is known
  double precision = 1, log_precision = 0;  // E 1/σ² and E log 1/σ²; not gaussian: 1 and 0
};

/// The responses of all documents. With E z̄_k = N_dk / N_d and the upper bound of E z̄z̄' that depends on
/// counts alone,
///   Q_d = (1 − 1/N_d) E z̄ E z̄' + diag(E z̄) / N_d ≥ E z̄z̄'  (Jensen; equal where all tokens share one r),
/// the best q(η) is conjugate and its evidence a function of sums, which joins of topics leave sums:
///   pairs of topics, for each equation: Σ ω Q;  on the diagonal alone Σ b E z̄ and, for each covariate,
///     Σ ω x E z̄
///   scalars, for each equation: Σ 1, Σ constant (gaussian: Σ y²), Σ b x (m), Σ ω xx' (packed)
/// A document has equations + m numbers: its responses (NaN: not known) and its covariates.
class ResponseModel {
 public:
  explicit ResponseModel(const ResponsePrior& prior) : prior_(prior) {}

  const ResponsePrior& prior() const { return prior_; }
  Index n_values() const { return prior_.equations + prior_.covariates; }
  Index n_pairs() const { return prior_.equations * (2 + prior_.covariates); }
  Index n_scalars() const { return prior_.equations * scalars_each(); }
  /// Local numbers of each equation of a document.
  Index n_local() const;

  /// The quadratic of a response at local numbers; null: at those of a document that was not visited yet.
  Quadratic quadratic(double y, const double* local) const;
  /// Local numbers at their best for E f and E f², and E of the response's part there.
  double best(double y, double mean, double square, double* local) const;

  /// Adds what a document with these shares has, `times` times, to the statistics. value: its numbers.
  void add(const double* value, const double* local, double length, double times, Shares share,
           Summary& to) const;

  /// How many responses the statistics have.
  double n_known(const Summary& s) const;

  /// How much more the response of a document wants of f than it has, (b − ω E f) of the equation where that
  /// is most; NaN where none is known. Shares are as for add().
  double residual(const double* value, double length, Shares share, const ResponsePosterior& q) const;

  /// What the statistics have of a topic is divided evenly among it and new ones, which then have about its
  /// η.
  void divide(Summary& s, Index topic, Index first_born, Index n_born) const;

  ResponsePosterior posterior(const Summary& effective) const;

  /// The responses' term of the ELBO for the statistics `total`, with q(η) optimal for `effective`.
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
