// Messages of a chain in which each row may be in L of the K states only, and the choice of these sets.
#pragma once
#include <functional>

#include "chains/messages/messages.h"

namespace bnpvi::chains {

/// Consecutive rows of complete sequences; row t may be in a set C_t of `width` = L < K different states
/// only. Among all q(z) restricted to these sets, the optimum is the chain restricted to them, and its bound
/// is the logarithm of
///   Z(C) = Σ_{z_t ∈ C_t} Π_t P(z_{t−1}, z_t) e_t(z_t).
///
/// With all other sets fixed, Z = Σ_{k ∈ C_t} s_t(k), where α holds the messages from the left and ν those
/// from the right,
///   s_t(k) = [Σ_{j ∈ C_{t−1}} α_{t−1}(j) P_jk]  e_t(k)  [Σ_{l ∈ C_{t+1}} P_kl ν_{t+1}(l)],
/// so that the best C_t has the L states with the largest s_t among all K. A sweep from right to left that
/// chooses the sets in turn, with α from the old sets and ν from the new ones, never lowers Z.
struct SparseRows {
  Index n = 0;
  const std::uint8_t* first = nullptr;
  Index width = 0;
  int* state = nullptr;     // sets C_t: n × L states, ascending in each row
  double* log_e = nullptr;  // log potentials of these states, n × L
};

/// Arithmetic for SparseMessages: scaled messages on floored potentials, as in Chain.
struct ScaledNumbers;
/// Arithmetic for SparseMessages: messages in log space, without floors.
struct LogNumbers;

/// Sweeps over the rows. One call processes rows from .. from + m − 1, and calls follow each other in the
/// order of the sweep. alpha is n × L, and its rows sum to 1. Sweeps return false when the messages may
/// depend on a floor (never in log space).
template <class Numbers>
class SparseMessages {
 public:
  SparseMessages(const Chain& chain, Index width);

  /// Messages from the left over the present sets of states. e: exponentials of the potentials (used by
  /// ScaledNumbers only). scale_t = p(e_t | e_1..t−1).
  bool forward(const SparseRows& rows, Index from, Index m, const double* e, double* alpha, double* scale);

  /// For a first visit: chooses sets from left to right, each the best given the rows before, that is, the L
  /// largest [Σ_j α_{t−1}(j) P_jk] e_t(k). log_all (m × K): log-likelihoods of all states in these rows;
  /// e_all: their exponentials relative to the largest of the row (used by ScaledNumbers only).
  bool choose_forward(const SparseRows& rows, Index from, Index m, const double* log_all, const double* e_all,
                      double* alpha);

  /// The sweep from right to left that replaces each set of states by the best one. alpha: messages from the
  /// left over the old sets. On return log_e has the log-likelihoods of the new sets.
  bool choose_backward(const SparseRows& rows, Index from, Index m, const double* log_all,
                       const double* e_all, const double* alpha);

  /// Sums to which backward() adds.
  struct Counts {
    double* start;  // responsibilities of first rows, K numbers
    double* pair;   // expected transitions, K × K
    double entropy;  // Σ log scale − Σ r log_e − Σ (first rows) r log start; −Σ M log P is to be added
  };

  /// Computes responsibilities r (n × L; may be the same array as e) from right to left, and adds to counts.
  /// tell, unless empty, is called with each row t that does not begin a sequence and P(z_{t−1}, z_t) over
  /// C_{t−1} × C_t (L × L).
  void backward(const SparseRows& rows, Index from, Index m, const double* e, const double* alpha,
                const double* scale, double* r, Counts& counts,
                const std::function<void(Index, const double*)>& tell);

 private:
  void enter(const SparseRows& rows, Index t, const double* alpha, double* out);
  void enter_all(const SparseRows& rows, Index t, const double* alpha, const double* e);
  void take_largest(const SparseRows& rows, Index t, const Vec& score, const double* log_all, bool anew);
  double normalise(double* x) const;

  const Chain& chain_;
  Vec ready_, score_, into_;  // α P ∘ e, s_t and P ν, over all K states
  Vec beta_, nu_, terms_;     // messages of a row, L numbers each
  std::vector<const double*> row_;
  Vec joint_;  // P(z_{t−1}, z_t), L × L
};

extern template class SparseMessages<ScaledNumbers>;
extern template class SparseMessages<LogNumbers>;

}  // namespace bnpvi::chains
