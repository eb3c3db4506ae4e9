// What the response of one document says of its topics.
#pragma once
#include "topics/model/document.h"
#include "topics/responses/response.h"

namespace bnpvi::topics {

/// The response's part of a document's bound is a concave function of its counts s of topics,
///   R(s) = h's − ½ s'G s + constant,
/// as long as its local numbers stay. Given θ̂, responsibilities are best where r ∝ exp(C + P + ∇R(s)) with s
/// the counts that these have themselves; the response so tilts the weights of the topics of all tokens
/// alike. Such a point is approached through tilts ∇R(ŝ) at other counts ŝ. For one thread.
class DocumentResponse {
 public:
  DocumentResponse(const ResponseModel& model, const ResponsePosterior& posterior)
      : model_(model), posterior_(posterior) {}

  /// Takes a document; false: nothing is known of it.
  bool begin(const DocumentView& view);
  /// The topics that the counts below belong to.
  void use(const std::vector<int>& topic);

  /// Local numbers become the best for these counts, if their turn has come: in calls 1, 2, 3, 5, 9, ...
  /// after use(), as that costs more than a round. Any are a bound.
  void touch(const Vec& count);
  /// Σ adds ∇R(at) to p.
  void add_slope(const Vec& at, Vec& p) const;

  /// True when responsibilities with the counts `now`, the best for a tilt at `at`, are surely no worse than
  /// any with the counts `before`: with Δ = ½(now − at)'G(now − at) the gain is at least
  ///   ½(before − at)'G(before − at) − Δ + Σ_u c_u KL(r_u before, r_u now)
  /// and the last sum at least |before − now|²/2N (in the norm of absolute values, by Pinsker), where tokens
  /// may have all topics (`dense`).
  bool no_worse(const Vec& before, const Vec& now, const Vec& at, bool dense) const;

  /// Moves `at` towards the counts that a tilt there has led to: all the way where R is nearly straight, else
  /// by a Newton step with an upper bound of how counts answer to tilts, diag(s) − ss'/N.
  void approach(const Vec& count, Vec& at);

  /// R at the best local numbers, which are put into `local` unless it is null (Σ equations × n_local).
  double value(const Vec& count, Vec* local) const;

 private:
  struct Moments {
    double mean, square;
  };
  Moments moments(Index known, const Vec& count) const;
  double curvature(const Vec& a, const Vec& b) const;  // (a − b)'G(a − b)

  const ResponseModel& model_;
  const ResponsePosterior& posterior_;
  const double* value_ = nullptr;  // of the document
  double length_ = 1;
  std::vector<Index> known_;  // equations
  std::vector<int> topic_;
  Vec linear_, second_;              // of the topics: known × A, known × A × A
  Vec crossed_;                      // known × A: E η η_x' x
  Vec of_covariates_, square_rest_;  // known: E η_x'x, E (η_x'x)²
  Vec g_, h_;
  Vec scratch_[5];   // of approach()
  Index calls_ = 0;  // of touch()
};

}  // namespace bnpvi::topics
