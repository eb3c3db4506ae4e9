// Messages of a hidden Markov chain in which each row may be in L of the K states only, and the choice of
// these sets.
#pragma once
#include <functional>

#include "chains/messages/messages.h"

namespace bnpvi::chains {

/// Consecutive rows of complete sequences, where row t may be in a set C_t of only `width` = L < K states. P
/// are the transition probabilities, e_t the potentials of row t. Among all q(z) restricted to these sets,
/// the best is the chain restricted to them, and its bound is the logarithm of
///   Z(C) = Σ_{z_t ∈ C_t} Π_t P(z_{t−1}, z_t) e_t(z_t).
///
/// With all other sets fixed, Z = Σ_{k ∈ C_t} s_t(k). With α the messages from the left and ν those from the
/// right,
///   s_t(k) = [Σ_{j ∈ C_{t−1}} α_{t−1}(j) P_jk]  e_t(k)  [Σ_{l ∈ C_{t+1}} P_kl ν_{t+1}(l)],
/// so that the best C_t has the L states with the largest s_t among all K. A sweep from right to left that
/// chooses the sets in turn, with α from the old sets and ν from the new ones, never lowers Z.
struct SparseRows {
  Index n = 0;
  const std::uint8_t* first = nullptr;
  Index width = 0;
  int* state = nullptr;     // the states that each row may be in: n × L, ascending in each row
  double* log_e = nullptr;  // log potentials of the states in `state`, n × L
};

/// Arithmetic for SparseMessages that scales messages by row, with potentials that are floored as in Chain.
struct ScaledNumbers;
/// Arithmetic for SparseMessages that computes messages in log space, without a floor of potentials.
struct LogNumbers;

/// Forward and backward sweeps over the rows of a chain in which each row may be in L states only. One call
/// processes rows from .. from + m − 1, and calls follow each other in the order of the sweep. alpha is n ×
/// L, and its rows sum to 1. A sweep returns false when the messages may depend on a floor of the potentials
/// (never in log space).
template <class Numbers>
class SparseMessages {
 public:
  SparseMessages(const Chain& chain, Index width);

  /// Computes the messages from the left over the present sets of states: alpha, and scale_t = p(e_t |
  /// e_1..t−1). e: exponentials of the potentials (used by ScaledNumbers only).
  bool forward(const SparseRows& rows, Index from, Index m, const double* e, double* alpha, double* scale);

  /// Chooses the set of states of each row from left to right, for a first visit (update of q(z)). Each set
  /// is the best given the rows before: the L states k with the largest [Σ_j α_{t−1}(j) P_jk] e_t(k). log_all
  /// (m × K): log-likelihoods of all states in these rows; e_all: their exponentials relative to the largest
  /// of the row (used by ScaledNumbers only).
  bool choose_forward(const SparseRows& rows, Index from, Index m, const double* log_all, const double* e_all,
                      double* alpha);

  /// Replaces the set of states of each row by the best one, from right to left. alpha: messages from the
  /// left over the old sets. On return log_e has the log-likelihoods of the new sets.
  bool choose_backward(const SparseRows& rows, Index from, Index m, const double* log_all,
                       const double* e_all, const double* alpha);

  /// Sums over rows to which backward() adds.
  struct Counts {
    double* start;  // responsibilities of first rows, K numbers
    double* pair;   // expected transitions, K × K
    // entropy of q(z) without its part −Σ M log P of the transitions: Σ log scale − Σ r log_e − Σ (first
    // rows) r log start
    double entropy;
  };

  /// Computes the responsibilities r (n × L; may be the same array as e) from right to left, and adds starts,
  /// transitions and entropy to counts. tell, unless empty, is called for each row t that does not begin a
  /// sequence, with t and P(z_{t−1}, z_t) over the sets C_{t−1} × C_t that the two rows may be in (L × L).
  void backward(const SparseRows& rows, Index from, Index m, const double* e, const double* alpha,
                const double* scale, double* r, Counts& counts,
                const std::function<void(Index, const double*)>& tell);

 private:
  void enter(const SparseRows& rows, Index t, const double* alpha, double* out);
  void enter_all(const SparseRows& rows, Index t, const double* alpha, const double* e);
  void take_largest(const SparseRows& rows, Index t, const Vec& score, const double* log_all, bool anew);
  double normalise(double* x) const;

  const Chain& chain_;
  Vec ready_, score_, into_;  // for one row, over all K states: α P ∘ e, the score s_t, and P ν
  Vec beta_, nu_, terms_;     // messages of one row, L numbers each
  std::vector<const double*> row_;
  Vec joint_;  // P(z_{t−1}, z_t) over the L states of each of two rows, L × L
};

extern template class SparseMessages<ScaledNumbers>;
extern template class SparseMessages<LogNumbers>;

}  // namespace bnpvi::chains
