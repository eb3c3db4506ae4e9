// Messages of a hidden Markov chain in which each row may be in L of the K states only, and the choice of
// these sets.
#pragma once
#include <functional>

#include "chains/messages/messages.h"

namespace bnpvi::chains {

/// Consecutive rows of complete sequences, where row t may be in L of the K states only: the set C_t. P:
/// transition probabilities; e_t: potentials of row t. The best q(z) restricted to these sets is the
/// posterior of the chain that is restricted to them. Its bound is log Z(C), with
///   Z(C) = Σ_{z_t ∈ C_t} Π_t P(z_{t−1}, z_t) e_t(z_t).
///
/// If the sets of all other rows are fixed, Z(C) = Σ_{k ∈ C_t} s_t(k). With α the messages from the left and
/// ν the messages from the right,
///   s_t(k) = [Σ_{j ∈ C_{t−1}} α_{t−1}(j) P_jk]  e_t(k)  [Σ_{l ∈ C_{t+1}} P_kl ν_{t+1}(l)].
/// So the best set C_t has the L states with the largest s_t among all K states. A sweep from right to left
/// chooses the set of one row after the other, with α from the old sets and ν from the new sets. It never
/// lowers Z.
struct SparseRows {
  Index n = 0;
  const std::uint8_t* first = nullptr;
  Index width = 0;          // L, the number of states in each set
  int* state = nullptr;     // the set of each row: n × L state numbers, ascending in each row
  double* log_e = nullptr;  // log potentials of the states in `state`, n × L
};

/// Arithmetic for SparseMessages with messages that are scaled to sum to 1 in each row. Small potentials are
/// raised to a floor, as described at Chain (messages.h).
struct ScaledNumbers;
/// Arithmetic for SparseMessages with messages that are stored as logarithms. It needs no floor for small
/// potentials.
struct LogNumbers;

/// Forward and backward sweeps over the rows of a chain in which each row may be in L of the K states only
/// (SparseRows). One call processes rows from .. from + m − 1, and calls must follow each other in the order
/// of the sweep. alpha (n × L): messages from the left; each row sums to 1. Sweeps return false if the
/// messages may depend on the floor to which small potentials are raised; never with LogNumbers.
template <class Numbers>
class SparseMessages {
 public:
  SparseMessages(const Chain& chain, Index width);

  /// Computes the messages from the left over the present sets of states: alpha, and scale_t = p(e_t |
  /// e_1..t−1). e (n × L): exponentials of the log potentials in `rows` (only for ScaledNumbers).
  bool forward(const SparseRows& rows, Index from, Index m, const double* e, double* alpha, double* scale);

  /// Chooses the set of states of each row from left to right, for the first update of q(z). The set of row t
  /// has the L states k with the largest [Σ_j α_{t−1}(j) P_jk] e_t(k); so it is the best set given the rows
  /// before. log_all (m × K): log-likelihoods of all states. e_all (m × K): their exponentials relative to
  /// the largest of each row (only for ScaledNumbers).
  bool choose_forward(const SparseRows& rows, Index from, Index m, const double* log_all, const double* e_all,
                      double* alpha);

  /// Replaces the set of states of each row by the best one given all other sets, from right to left. alpha:
  /// messages from the left over the old sets. log_all, e_all: as for choose_forward(). Afterwards rows.log_e
  /// has the log-likelihoods of the new sets.
  bool choose_backward(const SparseRows& rows, Index from, Index m, const double* log_all,
                       const double* e_all, const double* alpha);

  /// Sums over rows, to which backward() adds.
  struct Counts {
    double* start;  // responsibilities of first rows, K numbers
    double* pair;   // expected transitions, K × K
    // entropy of q(z) without the part of the transitions, −Σ M log P with expected transitions M: Σ log
    // scale − Σ r log_e − Σ (first rows) r log start
    double entropy;
  };

  /// Computes the responsibilities r (state probabilities, n × L) from right to left, and adds starts,
  /// transitions and entropy to `counts`. r may be the same array as e. tell: if not empty, it is called for
  /// each row t that does not begin a sequence, with t and P(z_{t−1}, z_t) over the sets C_{t−1} × C_t of the
  /// two rows (L × L).
  void backward(const SparseRows& rows, Index from, Index m, const double* e, const double* alpha,
                const double* scale, double* r, Counts& counts,
                const std::function<void(Index, const double*)>& tell);

 private:
  void enter(const SparseRows& rows, Index t, const double* alpha, double* out);
  void enter_all(const SparseRows& rows, Index t, const double* alpha, const double* e);
  void take_largest(const SparseRows& rows, Index t, const Vec& score, const double* log_all, bool anew);
  double normalise(double* x) const;

  const Chain& chain_;
  Vec ready_, score_, into_;  // of one row, K numbers each: α P ∘ e, the scores s_t, and P ν
  Vec beta_, nu_, terms_;     // messages of one row, L numbers each
  std::vector<const double*> row_;
  Vec joint_;  // P(z_{t−1}, z_t) over the L states of each of two rows, L × L
};

extern template class SparseMessages<ScaledNumbers>;
extern template class SparseMessages<LogNumbers>;

}  // namespace bnpvi::chains
