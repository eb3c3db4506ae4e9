// Forward and backward messages of a hidden Markov chain, on plain arrays.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "foundation/types.h"

namespace bnpvi::chains {

/// A hidden Markov chain with K states, in the forms that messages need: log potentials of starts (K) and of
/// transitions (K × K; row j has the transitions out of state j). They need not be normalised. There may be
/// several transition matrices, stored one after the other. The position of a row (Dataset::position) is the
/// number of the matrix that leads into it. Positions are covariate patterns or, in a tree, the places of a
/// child among its siblings.
///
/// Messages exist in two versions. Scaled messages use exponentials of the potentials. Potentials below a
/// floor are raised to it, so that no product of two underflows. The floor is exp(lowest); for observations
/// it is relative to the largest potential of the row. Every message is then positive and finite, and q(z)
/// and its entropy are exactly those of the chain with the raised potentials. But data and transitions may
/// contradict each other so much that a row can only be reached through a raised potential. forward() then
/// returns false. For this case log_space_forward() and log_space_backward() compute messages as logarithms,
/// without a floor.
///
/// A chain may have impossible starts or transitions (has_zeros). Their log potential is −∞, and their entry
/// in `start` or `transition` is exactly 0. Messages of such a chain must be computed in log space. The
/// reason: a state may be the only one from which a later row can be reached, and yet have a probability too
/// small for a double.
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

/// True if log_p is the finite logarithm of a probability. False if it is not_possible, also after finite
/// numbers were added to it.
inline bool is_possible(double log_p) { return log_p > 0.5 * not_possible; }

/// The smallest scale_t = p(e_t | e_1..t−1), the conditional probability of row t, that forward() accepts. It
/// is far above the floor of potentials, exp(Chain::lowest) = 1e-148, so a larger scale_t cannot come from a
/// raised potential. The value is a guess.
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

/// Turns expected log-likelihoods log_e (n × K) into log potentials: subtracts a constant from each row, so
/// that the exponentials of the row sum to 1. e (n × K): receives these exponentials. Small values of e and
/// log_e are raised to the floor of potentials (Chain); with `log_space`, log_e is not raised. Entries of
/// log_e that are not_possible stay so, with e = 0.
void make_potentials(Index n, Index k, double* log_e, double* e, bool log_space);

/// Computes scaled forward messages of rows t = 1..n. e (n × K): potentials. alpha ((n + 1) × K): row t
/// receives p(z_t | e_1..t), K numbers that sum to 1. On entry row 0 must have this message of the row before
/// the first, unless the first row begins a sequence. scale (n): receives scale_t = p(e_t | e_1..t−1).
/// Returns false if the messages may depend on the floor to which small potentials are raised.
bool forward(const Chain& chain, ChainRows rows, const double* e, double* alpha, double* scale);

/// Computes scaled backward messages, and from them the responsibilities r (state probabilities given all
/// rows).
///
/// beta (K): on entry the message into the last row, ones if nothing follows; on return the message into the
/// row before the first, ones if the first row begins a sequence. log_e: on entry log potentials, on return
/// r. e: on entry potentials, on return the messages ν, with which
///   P(z_t = j, z_{t+1} = k) = alpha_tj P_jk ν_{t+1,k}.
/// ν is 0 where a sequence begins. start_count (K): the responsibilities of first rows are added. entropy:
/// this part of the entropy of q(z) is added,
///   Σ log scale − Σ r log_e − Σ (first rows) r log start.
/// The rest of the entropy, −Σ M log P with expected transitions M, comes from add_transitions().
void backward(const Chain& chain, ChainRows rows, const double* alpha, const double* scale, double* log_e,
              double* e, double* beta, double* start_count, double& entropy);

/// Compute forward and backward messages as forward() and backward() do, but in log space, without a floor.
/// log_alpha, log_scale and log_beta are the logarithms of alpha, scale and beta (log_beta: zeros if nothing
/// follows). pair: log_space_backward() adds the expected transitions, laid out as the chain's transitions.
/// tell: if not empty, it is called for each row t that does not begin a sequence, with t and P(z_{t−1}, z_t)
/// (K × K).
void log_space_forward(const Chain& chain, ChainRows rows, const double* log_e, double* log_alpha,
                       double* log_scale);
void log_space_backward(const Chain& chain, ChainRows rows, const double* log_alpha, const double* log_scale,
                        double* log_e, double* log_beta, double* start_count, double* pair, double& entropy,
                        const std::function<void(Index, const double*)>& tell = {});

/// Adds expected transitions M to `pair` and returns their part of the entropy, −Σ M log P. P: the chain's
/// transition probabilities; pair has the same layout. without_factor: sums of products alpha ν of forward
/// and backward messages; multiplied by P they give M. In their entropy, log P below the floor Chain::lowest
/// is raised to it. log_space: further expected transitions, computed in log space.
double add_transitions(const Chain& chain, const std::vector<Vec>& without_factor, const Vec& log_space,
                       Vec& pair);

/// Subtracts the largest entry of each row from log_e (n × K). A constant added to a row does not change
/// q(z), but a large one costs digits.
void subtract_tops(Index n, Index k, double* log_e);

/// Computes the most probable path of n rows by Viterbi's algorithm. log_e (n × K): log potentials; they need
/// not be normalised. path: receives the state of each row, 0 .. K − 1; if two are equally probable, the
/// smaller number. Memory: 4 n K bytes.
void viterbi(const Chain& chain, Index n, const double* log_e, int* path);

}  // namespace bnpvi::chains
