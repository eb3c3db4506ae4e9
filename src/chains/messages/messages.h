// Messages of a hidden Markov chain on plain arrays.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "foundation/types.h"

namespace bnpvi::chains {

/// Log potentials of a chain with K states, which need not be normalised: start (K) and transitions
/// (K × K, row = from), in the forms that messages need. There may be transitions for each position of a row
/// (Dataset::position: of a child in a tree, or of a covariate pattern), one matrix after the other.
///
/// Messages exist in two versions. Scaled messages work on exponentials, with logarithms floored at `lowest`
/// (those of observations relative to the largest of the row), so that no product of two of them underflows:
/// every message stays positive and finite. The floored potentials define the chain, of which q(z) and its
/// entropy are exact. When data and transitions contradict each other so much that a row can only be reached
/// through a floor, forward() returns false, and log_space_forward() and log_space_backward() compute the
/// messages in log space, without floors.
///
/// Of a chain with zeros what is −∞ is impossible, and exactly 0 in `start` and `transition`. Its messages
/// are to be computed in log space: a state that nothing leads to any more keeps its message for as long as
/// the rest forgets it, and may be the only way on in the end.
struct Chain {
  static constexpr double lowest = -340;  // e^(2 · −340) is still a normal double

  Chain(Index k, Vec log_start, Vec log_transition, bool has_zeros = false);

  /// Where the transitions into a row of this position begin.
  Index block(Index position) const { return position * k * k; }
  Index positions() const { return static_cast<Index>(log_transition.size()) / (k * k); }

  Index k;
  bool has_zeros;
  Vec log_start, log_transition;
  Vec start, transition, transposed;  // exponentiated and floored
};

/// Stands for −∞, whose differences would be NaN: the logarithm of what is impossible.
inline constexpr double not_possible = -1e300;

/// False of that, and of what was added to it.
inline bool is_possible(double log_p) { return log_p > 0.5 * not_possible; }

/// A scale_t below this may come from a floored potential: well above exp(Chain::lowest) = 1e-148. A guess.
inline constexpr double trustworthy = 1e-130;

/// log Σ exp(x_i), n ≥ 1.
double log_sum_exp(Index n, const double* x);

/// Consecutive rows of several sequences; first[t] is true where a sequence begins. position: of each row,
/// those of the chain's transitions; null: all 0.
struct ChainRows {
  Index n = 0;
  const std::uint8_t* first = nullptr;
  const int* position = nullptr;

  Index block(const Chain& chain, Index t) const { return position ? chain.block(position[t]) : 0; }
};

/// log_e (n × K): expected log-likelihoods become log potentials whose exponentials sum to 1 in each row,
/// floored unless `log_space`; e: their floored exponentials. What is impossible stays so: e is 0 there.
void make_potentials(Index n, Index k, double* log_e, double* e, bool log_space);

/// Scaled forward messages: alpha_t (K, summing to 1) for t = 1..n in rows 1..n of alpha ((n + 1) × K); row 0
/// is the message before the first row, read when that row does not begin a sequence. scale_t = p(e_t |
/// e_1..t−1). Returns false when the messages may depend on a floor.
bool forward(const Chain& chain, ChainRows rows, const double* e, double* alpha, double* scale);

/// Scaled backward messages. beta (K): in, the message into the last row (ones when nothing follows); out,
/// the one into the row before the first (ones when the first row begins a sequence). After the call log_e
/// holds the responsibilities r and e the messages ν with E[z_t = j, z_{t+1} = k] = alpha_tj P_jk ν_{t+1,k}
/// (0 where a sequence begins). Adds the responsibilities of first rows to start_count (K), and
///   Σ log scale − Σ r log_e − Σ (first rows) r log start
/// to entropy: what remains of the entropy are the transitions, −Σ M log P.
void backward(const Chain& chain, ChainRows rows, const double* alpha, const double* scale, double* log_e,
              double* e, double* beta, double* start_count, double& entropy);

/// The same in log space: log_alpha instead of alpha, log_scale instead of scale, log_beta (zeros when
/// nothing follows) instead of beta. log_space_backward adds expected transitions to pair (as the chain's
/// transitions) itself;
/// tell, unless empty, is called with each row t that does not begin a sequence and P(z_{t−1}, z_t) (K × K).
void log_space_forward(const Chain& chain, ChainRows rows, const double* log_e, double* log_alpha,
                       double* log_scale);
void log_space_backward(const Chain& chain, ChainRows rows, const double* log_alpha, const double* log_scale,
                        double* log_e, double* log_beta, double* start_count, double* pair, double& entropy,
                        const std::function<void(Index, const double*)>& tell = {});

/// Adds expected transitions to pair (as the chain's transitions), from sums of products that lack the factor
/// P and from those counted in log space, and returns their entropy −Σ M log P, the former at floored log P.
double add_transitions(const Chain& chain, const std::vector<Vec>& without_factor, const Vec& log_space,
                       Vec& pair);

/// Subtracts from each row of log_e (n × K) its largest entry: constants of rows change no q(z), but cost
/// digits.
void subtract_tops(Index n, Index k, double* log_e);

/// Most probable path given log potentials of n rows (unscaled, n × K), by Viterbi's algorithm; ties go to
/// the smaller state. path is written 0-based. Memory: n × K back-pointers of 4 bytes.
void viterbi(const Chain& chain, Index n, const double* log_e, int* path);

}  // namespace bnpvi::chains
