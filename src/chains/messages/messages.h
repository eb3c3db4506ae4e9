// Forward and backward messages of a hidden Markov chain, on plain arrays.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "foundation/types.h"

namespace bnpvi::chains {

/// A hidden Markov chain with K states, in the forms that messages need: log potentials of starts (K) and of
/// transitions (K × K, a row for each state from which they lead). They need not be normalised. There may be
/// several transition matrices, one after the other: one for each position of a row (Dataset::position: the
/// position of a child in a tree, or a covariate pattern).
///
/// Messages exist in two versions. Scaled messages use exponentials of the potentials. Potentials below a
/// floor are raised to it, so that no product of two underflows. The floor is exp(lowest); for observations
/// it is relative to the largest potential of the row. Every message is then positive and finite, and q(z)
/// and its entropy are exactly those of the chain with the raised potentials. But data and transitions may
/// contradict each other so much that a row can only be reached through a raised potential. forward() then
/// returns false. For this case log_space_forward() and log_space_backward() compute messages in log space,
/// without a floor.
///
/// A chain with zeros (has_zeros) has impossible starts or transitions, with log potential −∞; their entries
/// of `start` and `transition` are exactly 0. Its messages must be computed in log space. A state may be the
/// only one from which a later row can be reached, and yet have a probability too small for a double.
struct Chain {
  static constexpr double lowest = -340;  // floor of log potentials: e^(2 · −340) is still a normal double

  Chain(Index k, Vec log_start, Vec log_transition, bool has_zeros = false);

  /// Index in `transition` at which the transition matrix for rows of this position begins.
  Index block(Index position) const { return position * k * k; }
  Index positions() const { return static_cast<Index>(log_transition.size()) / (k * k); }

  Index k;
  bool has_zeros;
  Vec log_start, log_transition;
  Vec start, transition, transposed;  // exponentials of the floored log potentials
};

/// Stands for −∞, the logarithm of 0, in computations: differences of true infinities would be NaN.
inline constexpr double not_possible = -1e300;

/// True if log_p is a finite logarithm of a probability; false for not_possible, to which finite numbers may
/// have been added.
inline bool is_possible(double log_p) { return log_p > 0.5 * not_possible; }

/// Smallest scale_t = p(e_t | e_1..t−1), the conditional probability of a row, that forward() accepts. It is
/// far above the floor of potentials, exp(Chain::lowest) = 1e-148, so that no raised potential can have
/// decided it. A guess.
inline constexpr double trustworthy = 1e-130;

/// log Σ exp(x_i) of n ≥ 1 numbers.
double log_sum_exp(Index n, const double* x);

/// Consecutive rows of several sequences. first[t]: true where a sequence begins. position: for each row, the
/// number of the chain's transition matrix that leads into it; null: 0 for all rows.
struct ChainRows {
  Index n = 0;
  const std::uint8_t* first = nullptr;
  const int* position = nullptr;

  Index block(const Chain& chain, Index t) const { return position ? chain.block(position[t]) : 0; }
};

/// Turns expected log-likelihoods log_e (n × K) into log potentials, whose exponentials sum to 1 in each row.
/// They are raised to the floor unless `log_space`. e (n × K): receives their exponentials, raised to the
/// floor. Entries of log_e that are not_possible stay so, with e = 0.
void make_potentials(Index n, Index k, double* log_e, double* e, bool log_space);

/// Computes scaled forward messages of rows t = 1..n. alpha ((n + 1) × K): row t receives alpha_t, K numbers
/// that sum to 1. Row 0 must have the message of the row before the first, unless the first row begins a
/// sequence. scale: receives scale_t = p(e_t | e_1..t−1). Returns false if the messages may depend on a floor
/// of the potentials.
bool forward(const Chain& chain, ChainRows rows, const double* e, double* alpha, double* scale);

/// Computes scaled backward messages, and from them the responsibilities (state probabilities given all
/// rows).
/// beta (K): on entry the message into the last row (ones when nothing follows), on return the message into
/// the row before the first (ones when the first row begins a sequence). On return log_e holds the
/// responsibilities r, and e the messages ν, for which E[z_t = j, z_{t+1} = k] = alpha_tj P_jk ν_{t+1,k} (0
/// where a sequence begins). Adds the responsibilities of first rows to start_count (K), and
///   Σ log scale − Σ r log_e − Σ (first rows) r log start
/// to entropy. The rest of the entropy, −Σ M log P for expected transitions M, is added by add_transitions().
void backward(const Chain& chain, ChainRows rows, const double* alpha, const double* scale, double* log_e,
              double* e, double* beta, double* start_count, double& entropy);

/// Computes forward and backward messages like forward() and backward(), but in log space and without floors.
/// log_alpha, log_scale and log_beta (zeros when nothing follows) are the logarithms of alpha, scale and
/// beta. log_space_backward() itself adds expected transitions to pair (laid out as the chain's transitions).
/// tell, unless empty, is called for each row t that does not begin a sequence, with t and P(z_{t−1}, z_t) (K
/// × K).
void log_space_forward(const Chain& chain, ChainRows rows, const double* log_e, double* log_alpha,
                       double* log_scale);
void log_space_backward(const Chain& chain, ChainRows rows, const double* log_alpha, const double* log_scale,
                        double* log_e, double* log_beta, double* start_count, double* pair, double& entropy,
                        const std::function<void(Index, const double*)>& tell = {});

/// Adds expected transitions M to pair (laid out as the chain's transition probabilities P) and returns their
/// part of the entropy, −Σ M log P. without_factor: sums of the products alpha ν of forward and backward
/// messages; multiplied by P they give M. Their entropy uses log P, raised to the floor Chain::lowest where
/// it is below. log_space: further expected transitions, which were computed in log space.
double add_transitions(const Chain& chain, const std::vector<Vec>& without_factor, const Vec& log_space,
                       Vec& pair);

/// Subtracts the largest entry of each row from log_e (n × K). A constant added to a row does not change
/// q(z), but a large one costs digits.
void subtract_tops(Index n, Index k, double* log_e);

/// Computes the most probable path (states from 0) given unscaled log potentials of n rows (n × K), by
/// Viterbi's algorithm; ties go to the smaller state. Memory: n × K back-pointers of 4 bytes.
void viterbi(const Chain& chain, Index n, const double* log_e, int* path);

}  // namespace bnpvi::chains
