// Transition probabilities that depend on covariates of the rows.
#pragma once
#include "chains/model/transition_rows.h"
#include "foundation/named_array.h"
#include "tilt/tilt.h"

namespace bnpvi {
struct Summary;
}

namespace bnpvi::chains {

/// Transition probabilities that depend on covariates. Let x_c be the covariates of pattern c, and let a row
/// have this pattern (Dataset::position). From state j into this row,
///
///   p(z_t = k | z_t−1 = j, c) = π_jk exp(x_c'λ_jk) / Z_cj,   Z_cj = Σ_k π_jk exp(x_c'λ_jk) + π_j,rest,
///
/// where π_j ~ Dirichlet(απ + κδ_j) and λ_jk ~ N(0, s² I). rest stands for all states not in use. Each row j
/// of transitions has its own q, a Tilt (tilt.h) with these Dirichlet weights. The statistics of a pair (j,
/// k) are N_jkc, the expected transitions in each pattern. Z_cj depends on the state before, so it is
/// computed for each state and pattern.
///
/// The q of K rows are stored as one vector, row after row. width: number of outcomes of a row, K or, in an
/// open-ended model, K + 1.
class TiltedTransitions {
 public:
  /// prior: the covariate patterns, the covariates of each, and the variance s² of their effects.
  explicit TiltedTransitions(TiltPrior prior);

  Index patterns() const { return prior_.patterns; }
  bool any() const { return prior_.columns > 0; }
  Index numbers(Index k, Index width) const;  // length of the q of all K rows

  /// The best q(π, λ) of all rows for these counts of transitions. near: the start of the searches, if it has
  /// the right length. rough: whether the searches end after a few steps. prior: the Dirichlet parameters of
  /// the rows, in its rows 1 .. K.
  Vec best(const Summary& counts, const TransitionRows& prior, const Vec& near, bool rough = false) const;

  /// The bound of the log probability of these transition counts under q(π, λ), summed over all rows: L of
  /// tilt.h, without the normalisers of the Dirichlet priors.
  RoundedSum value(const Summary& counts, const TransitionRows& prior, const Vec& q) const;

  /// The Dirichlet parameters θ̂ of the K transition rows in q, K × width.
  Vec theta(const Vec& q, Index k, Index width) const;

  /// The log potentials of the chain for local steps (updates of q(z)): E log π_jk + x_c'm_jk − log Z̄_cj, C
  /// × K × K for C covariate patterns. m_jk: mean of λ_jk under q. Z̄_cj: upper bound of Z_cj (the bracket in
  /// tilt.h).
  Vec log_potentials(const Vec& q, Index k, Index width) const;

  /// The shares ρ of the outcomes among transitions from each state in each of C covariate patterns (tilt.h),
  /// C × K × width.
  Vec shares(const Vec& q, Index k, Index width) const;

  /// An approximation of q(π, λ) of the K − 1 rows that remain after state b joined a < b, near the optimum.
  /// q: that of the K rows before.
  Vec joined(const Summary& counts, const Vec& q, Index width, Index a, Index b) const;

  /// The effects of covariates as arrays for users: "effects" (K × K × P), the means of λ for P covariates,
  /// and "effects_cov" (P × P × K × K), their covariances.
  NamedArrays arrays(const Vec& q, Index k, Index width) const;

 private:
  TiltPrior of_row(const double* weights, Index k,
                   // weights: the Dirichlet weights of each row; null where they are not needed
                   Index width) const;
  Tilt row(const Vec& q, Index k, Index width, Index j) const;

  TiltPrior prior_;
};

/// The number of transitions from state j to l in all covariate patterns together; none is negative.
double sum_over_patterns(const Summary& s, Index j, Index l);

}  // namespace bnpvi::chains
