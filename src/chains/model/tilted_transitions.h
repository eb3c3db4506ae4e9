// Transitions that depend on covariates.
#pragma once
#include "chains/model/transition_rows.h"
#include "foundation/named_array.h"
#include "tilt/tilt.h"

namespace bnpvi {
struct Summary;
}

namespace bnpvi::chains {

/// Transitions into rows with covariate pattern c (Dataset::position), which has the covariates x_c, from
/// state j: each row of transitions is tilted for itself,
///
///   p(z_t = k | z_t−1 = j, c) = π_jk exp(x_c'λ_jk) / Z_cj,   Z_cj = Σ_k π_jk exp(x_c'λ_jk) + π_j,rest,
///
/// π_j ~ Dirichlet(απ + κδ_j), λ_jk ~ N(0, s² I). The q of a row is a Tilt (tilt.h) with these Dirichlet
/// weights. The statistics of a pair (j, k) are N_jkc, one number for each pattern. In a chain Z_cj does not
/// cancel: it depends on the state before.
///
/// The q of K rows are stored as one vector, row after row. width: number of outcomes of a row, K or, with
/// the remainder of all states not in use, K + 1.
class TiltedTransitions {
 public:
  /// prior: patterns, covariates and variance.
  explicit TiltedTransitions(TiltPrior prior);

  Index patterns() const { return prior_.patterns; }
  bool any() const { return prior_.columns > 0; }
  Index numbers(Index k, Index width) const;  // length of the q of all K rows

  /// The best q for these counts. near: where the searches start, if it has the right length. rough: the
  /// searches end after a few steps. prior: the Dirichlet parameters of the rows, in rows 1 .. K.
  Vec best(const Summary& counts, const TransitionRows& prior, const Vec& near, bool rough = false) const;

  /// The sum over all rows j of the bound L of tilt.h at q, without the normalisers of the Dirichlet priors.
  RoundedSum value(const Summary& counts, const TransitionRows& prior, const Vec& q) const;

  /// The Dirichlet parameters θ̂ of K rows at q, K × width.
  Vec theta(const Vec& q, Index k, Index width) const;

  /// The chain on which local steps run: E log π_jk + x_c'm_jk − log Z̄_cj, C × K × K, with m_jk the mean of
  /// λ_jk under q and Z̄_cj the bound of Z_cj (the bracket in tilt.h).
  Vec log_potentials(const Vec& q, Index k, Index width) const;

  /// The shares ρ of the outcomes among transitions from each state in each pattern (tilt.h), C × K × width.
  Vec shares(const Vec& q, Index k, Index width) const;

  /// After state b joined a < b: a q of the remaining K − 1 rows near the best one, from the q of K rows.
  Vec joined(const Summary& counts, const Vec& q, Index width, Index a, Index b) const;

  /// Arrays for users: "effects" (K × K × P), the means of λ, and "effects_cov" (P × P × K × K), their
  /// covariances.
  NamedArrays arrays(const Vec& q, Index k, Index width) const;

 private:
  TiltPrior of_row(const double* weights, Index k,
                   Index width) const;  // weights: null where none are needed
  Tilt row(const Vec& q, Index k, Index width, Index j) const;

  TiltPrior prior_;
};

}  // namespace bnpvi::chains
