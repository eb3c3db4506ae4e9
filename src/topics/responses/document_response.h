// The influence of a document's response on the topics of the document.
#pragma once
#include "topics/model/document.h"
#include "topics/responses/response.h"

namespace bnpvi::topics {

/// How the response of one document changes the topics of its tokens. R is the response's part of the
/// document's bound. It is a function of s, the document's counts of topics. Its local numbers are the
/// parameters of a lower bound on the response's log density; with these fixed, R is concave:
///   R(s) = h's − ½ s'G s + constant.
/// The optimal responsibilities r (topic probabilities of tokens) satisfy
///   r ∝ exp(C + P + ∇R(s)).
/// C: expected log-likelihoods; P: the prior's part, given the document's Dirichlet parameters; s: the counts
/// of these same responsibilities. So the response multiplies the weights of topics by the same factors
/// exp(∇R) for all tokens; ∇R is called the tilt. The fixed point is approached by tilts ∇R(ŝ) at other
/// counts ŝ. One object serves one thread.
class DocumentResponse {
 public:
  DocumentResponse(const ResponseModel& model, const ResponsePosterior& posterior)
      : model_(model), posterior_(posterior) {}

  /// Loads the response of a document. Returns false if none of its responses is known.
  bool begin(const DocumentView& view);
  /// Sets the topics that the document uses. In the functions below, counts are those of these topics, in
  /// this order.
  void use(const std::vector<int>& topic);

  /// Sets the local numbers (parameters of the bound on the response's log density) to the best for these
  /// counts of topics. This costs more than a round of updates, so only calls number 1, 2, 3, 5, 9, ... after
  /// use() do it. The bound holds for any local numbers.
  void touch(const Vec& count);
  /// Adds the tilt ∇R, the gradient of the response's part of the bound at the counts `at`, to p.
  void add_slope(const Vec& at, Vec& p) const;

  /// True if it is certain that new responsibilities are no worse than the old ones. before: counts of the
  /// old ones. now: counts of the new ones, which are optimal for the tilt ∇R(at). G: matrix of the quadratic
  /// R. With Δ = ½(now − at)'G(now − at) the gain is at least
  ///   ½(before − at)'G(before − at) − Δ + Σ_u c_u KL(r_u before, r_u now).
  /// dense: whether tokens may have any topic. Then the last sum is at least |before − now|²/2N by Pinsker's
  /// inequality, with |·| the sum of absolute values and N the number of tokens; otherwise it is taken as 0.
  bool no_worse(const Vec& before, const Vec& now, const Vec& at, bool dense) const;

  /// Moves the counts `at`, at which the tilt ∇R(at) is computed, towards the counts `count` that resulted
  /// from this tilt: up to `count` if R is nearly linear, otherwise by a Newton step. For the derivative of
  /// the counts s with respect to the tilt, the step uses an upper bound, diag(s) − ss'/N, with N the number
  /// of tokens.
  void approach(const Vec& count, Vec& at);

  /// The response's part R of the bound for these counts of topics, at the best local numbers. local:
  /// receives these numbers, n_local for each equation; or null.
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
  double length_ = 1;              // number of tokens of the document
  std::vector<Index> known_;       // numbers of the equations whose response is known
  std::vector<int> topic_;
  Vec linear_, second_;              // for the A topics in use, E η and E ηη': known × A, known × A × A
  Vec crossed_;                      // E η η_x'x, with x the covariates: known × A
  Vec of_covariates_, square_rest_;  // for each known equation: E η_x'x and E (η_x'x)²
  Vec g_, h_;
  Vec scratch_[5];   // scratch of approach()
  Index calls_ = 0;  // calls of touch() since use()
};

}  // namespace bnpvi::topics
