// Messages of a hidden Markov chain on plain arrays.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "foundation/types.h"

namespace bnpvi::chains {

/// Log potentials of a chain with K states, which need not be normalised: start (K) and transitions (K × K,
/// row = from), in the forms that messages need. There may be one transition matrix for each position of a
/// row (Dataset::position: the position of a child in a tree, or a covariate pattern); they are stored one
/// after the other.
///
/// Messages exist in two versions. Scaled messages work on exponentials. Their log potentials are floored at
/// `lowest` (those of observations relative to the largest of the row), so that no product of two of them
/// underflows: every message stays positive and finite. The floored potentials define the chain for which
/// q(z) and its entropy are exact. When data and transitions contradict each other so much that a row can
/// only be reached through a floor, forward() returns false, and log_space_forward() and log_space_backward()
/// compute the messages in log space, without floors.
///
/// In a chain with zeros (has_zeros), starts and transitions with log potential −∞ are impossible: their
/// entries of `start` and `transition` are exactly 0. Its messages must be computed in log space: the message
/// of a state that no other state leads to may fall below what a double can hold, relative to the others, and
/// yet only this state may lead to a later row.
struct Chain {
  static constexpr double lowest = -340;  // e^(2 · −340) is still a normal double

  Chain(Index k, Vec log_start, Vec log_transition, bool has_zeros = false);

  /// Where in `transition` the transition matrix for rows of this position begins.
  Index block(Index position) const { return position * k * k; }
  Index positions() const { return static_cast<Index>(log_transition.size()) / (k * k); }

  Index k;
  bool has_zeros;
  Vec log_start, log_transition;
  Vec start, transition, transposed;  // exponentials of the floored log potentials
};

/// Stands for −∞, the logarithm of 0, in computations: differences of true infinities would be NaN.
inline constexpr double not_possible = -1e300;

/// False for not_possible, also after finite numbers were added to it.
inline bool is_possible(double log_p) { return log_p > 0.5 * not_possible; }

/// A scale_t (see forward()) below this may come from a floored potential: well above exp(Chain::lowest) =
/// 1e-148. A guess.
inline constexpr double trustworthy = 1e-130;

/// log Σ exp(x_i), n ≥ 1.
double log_sum_exp(Index n, const double* x);

/// Consecutive rows of several sequences. first[t]: true where a sequence begins. position: for each row,
/// which of the chain's transition matrices leads into it; null: all 0.
struct ChainRows {
  Index n = 0;
  const std::uint8_t* first = nullptr;
  const int* position = nullptr;

  Index block(const Chain& chain, Index t) const { return position ? chain.block(position[t]) : 0; }
};

/// log_e (n × K): on entry expected log-likelihoods, on return log potentials whose exponentials sum to 1 in
/// each row, floored unless `log_space`. e: their floored exponentials. An entry not_possible stays so, with
/// e = 0.
void make_potentials(Index n, Index k, double* log_e, double* e, bool log_space);

/// Scaled forward messages: alpha_t (K numbers, sum 1) for t = 1..n in rows 1..n of alpha ((n + 1) × K). Row
/// 0 is the message before the first row, which is read if that row does not begin a sequence. scale_t =
/// p(e_t | e_1..t−1). Returns false when the messages may depend on a floor.
bool forward(const Chain& chain, ChainRows rows, const double* e, double* alpha, double* scale);

/// Scaled backward messages. beta (K): on entry the message into the last row (ones when nothing follows), on
/// return the message into the row before the first (ones when the first row begins a sequence). On return
/// log_e holds the responsibilities r, and e the messages ν, for which E[z_t = j, z_{t+1} = k] = alpha_tj
/// P_jk ν_{t+1,k} (0 where a sequence begins). Adds the responsibilities of first rows to start_count (K),
/// and
///   Σ log scale − Σ r log_e − Σ (first rows) r log start
/// to entropy. The rest of the entropy, −Σ M log P for expected transitions M, is added by add_transitions().
void backward(const Chain& chain, ChainRows rows, const double* alpha, const double* scale, double* log_e,
              double* e, double* beta, double* start_count, double& entropy);

/// Forward and backward messages as by forward() and backward(), but in log space and without floors:
/// log_alpha, log_scale and log_beta (zeros when nothing follows) are the logarithms of alpha, scale and
/// beta. log_space_backward() itself adds expected transitions to pair (laid out as the chain's transitions).
/// tell, unless empty, is called with each row t that does not begin a sequence and with P(z_{t−1}, z_t) (K ×
/// K).
void log_space_forward(const Chain& chain, ChainRows rows, const double* log_e, double* log_alpha,
                       double* log_scale);
void log_space_backward(const Chain& chain, ChainRows rows, const double* log_alpha, const double* log_scale,
                        double* log_e, double* log_beta, double* start_count, double* pair, double& entropy,
                        const std::function<void(Index, const double*)>& tell = {});

/// Adds expected transitions M to pair (laid out as the chain's transitions P) and returns their part of the
/// entropy, −Σ M log P. without_factor: sums of the products alpha ν (see backward()), which are multiplied
/// by P here and have their entropy at the floored log P; log_space: transitions counted in log space.
double add_transitions(const Chain& chain, const std::vector<Vec>& without_factor, const Vec& log_space,
                       Vec& pair);

/// Subtracts from each row of log_e (n × K) its largest entry: constants of rows do not change q(z), but
/// large ones lose digits.
void subtract_tops(Index n, Index k, double* log_e);

/// Most probable path (0-based states) given unscaled log potentials of n rows (n × K), by Viterbi's
/// algorithm; ties go to the smaller state. Memory: n × K back-pointers of 4 bytes.
void viterbi(const Chain& chain, Index n, const double* log_e, int* path);

}  // namespace bnpvi::chains
