// The influence of a document's response on the topics of the document.
#pragma once
#include "topics/model/document.h"
#include "topics/responses/response.h"

namespace bnpvi::topics {

/// The response's part R of a document's bound. With the document's local numbers (parameters of a bound on
/// the response's log density) fixed, it is a concave function of the document's counts s of topics,
///   R(s) = h's − ½ s'G s + constant.
/// The optimal responsibilities satisfy r ∝ exp(C + P + ∇R(s)), where C are the expected log-likelihoods, P
/// the prior's part given the document's Dirichlet parameters, and s the counts of these same
/// responsibilities: the response multiplies the weights of topics by the same factors for all tokens, the
/// tilt. Such a fixed point is approached by tilts ∇R(ŝ) at other counts ŝ. For one thread.
class DocumentResponse {
 public:
  DocumentResponse(const ResponseModel& model, const ResponsePosterior& posterior)
      : model_(model), posterior_(posterior) {}

  /// Begins a document. Returns false if none of its responses is known.
  bool begin(const DocumentView& view);
  /// Sets the topics that the document uses; the counts in the functions below belong to these topics.
  void use(const std::vector<int>& topic);

  /// Sets the local numbers (of the bound on the response's log density) to the best for these counts of
  /// topics. Only calls 1, 2, 3, 5, 9, ... after use() do this, since it costs more than a round; the bound
  /// holds for any local numbers.
  void touch(const Vec& count);
  /// Adds to p the gradient ∇R of the response's part R, taken at the counts `at` of topics.
  void add_slope(const Vec& at, Vec& p) const;

  /// Whether responsibilities with the counts `now`, the optimum for a tilt ∇R(at), are certainly no worse
  /// than any with the counts `before`. G is the matrix of the quadratic R. With Δ = ½(now − at)'G(now − at)
  /// the gain is at least
  ///   ½(before − at)'G(before − at) − Δ + Σ_u c_u KL(r_u before, r_u now).
  /// Where tokens may have all topics (`dense`), the last sum is at least |before − now|²/2N by Pinsker's
  /// inequality (|·|: sum of absolute values).
  bool no_worse(const Vec& before, const Vec& now, const Vec& at, bool dense) const;

  /// Moves the counts `at`, at which the tilt ∇R(at) is taken, towards the counts `count` that resulted from
  /// this tilt: all the way where R is nearly linear, otherwise by a Newton step. The step uses diag(s) −
  /// ss'/N, an upper bound of the derivative of the counts s with respect to the tilt.
  void approach(const Vec& count, Vec& at);

  /// The response's part R of the bound, at the best local numbers for these counts of topics. Unless `local`
  /// is null, these numbers are written to it (all equations × n_local).
  double value(const Vec& count, Vec* local) const;

 private:
  struct Moments {
    double mean, square;
  };
  Moments moments(Index known, const Vec& count) const;
  double curvature(const Vec& a, const Vec& b) const;  // (a − b)'G(a − b)

  const ResponseModel& model_;
  const ResponsePosterior& posterior_;
  const double* value_ = nullptr;  // responses and covariates of the document
  double length_ = 1;
  std::vector<Index> known_;  // numbers of the equations whose response is known
  std::vector<int> topic_;
  Vec linear_, second_;  // E η and E ηη' for the topics in use (A): known × A, known × A × A
  Vec crossed_;          // known × A: E η η_x'x, with x the covariates
  Vec of_covariates_, square_rest_;  // for each known equation: E η_x'x and E (η_x'x)²
  Vec g_, h_;
  Vec scratch_[5];   // scratch of approach()
  Index calls_ = 0;  // calls of touch() since use()
};

}  // namespace bnpvi::topics
