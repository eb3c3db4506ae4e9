// Messages of a chain in which each row may be in L of the K states only, and the choice of these sets.
#pragma once
#include <functional>

#include "chains/messages/messages.h"

namespace bnpvi::chains {

/// Consecutive rows of sequences that begin and end among them, row t with the set C_t of `width` = L < K
/// different states. Among the q(z) that stay in these sets the optimum is the chain restricted to them, and
/// its bound is the log of
///   Z(C) = Σ_{z_t ∈ C_t} Π_t P(z_{t−1}, z_t) e_t(z_t).
///
/// With all other sets fixed, Z = Σ_{k ∈ C_t} s_t(k), where α holds the messages from the left and ν those
/// from the right,
///   s_t(k) = [Σ_{j ∈ C_{t−1}} α_{t−1}(j) P_jk]  e_t(k)  [Σ_{l ∈ C_{t+1}} P_kl ν_{t+1}(l)],
/// so the L states with the largest s_t, of all K, are the best C_t. A sweep from right to left that chooses
/// them in turn, with α from the old sets and ν from the new ones, never lowers Z.
struct SparseRows {
  Index n = 0;
  const std::uint8_t* first = nullptr;
  Index width = 0;
  int* state = nullptr;     // n × L, ascending
  double* log_e = nullptr;  // n × L, log potentials of these states
};

/// Scaled messages on floored potentials, as in Chain.
struct ScaledNumbers;
/// Messages in log space, without floors.
struct LogNumbers;

/// Sweeps over the rows; a call does rows from .. from + m − 1, and calls follow each other in the order of
/// the sweep. alpha is n × L with rows that sum to 1. Sweeps return false when the messages may depend on a
/// floor (never in log space).
template <class Numbers>
class SparseMessages {
 public:
  SparseMessages(const Chain& chain, Index width);

  /// Messages from the left over the sets as they are; e: the potentials as exponentials (of fast numbers).
  /// scale_t = p(e_t | e_1..t−1).
  bool forward(const SparseRows& rows, Index from, Index m, const double* e, double* alpha, double* scale);

  /// Chooses sets from left to right when there are none yet, each the best given the rows before: the L
  /// largest [Σ_j α_{t−1}(j) P_jk] e_t(k). log_all (m × K): log-likelihoods of all states of these rows;
  /// e_all: the same as exponentials, of a row relative to its largest (of fast numbers).
  bool choose_forward(const SparseRows& rows, Index from, Index m, const double* log_all, const double* e_all,
                      double* alpha);

  /// The sweep that replaces each set by the best one. alpha: of the old sets. log_e ← log-likelihoods of the
  /// new sets.
  bool choose_backward(const SparseRows& rows, Index from, Index m, const double* log_all,
                       const double* e_all, const double* alpha);

  /// What backward() adds to.
  struct Counts {
    double* start;  // K: responsibilities of first rows
    double* pair;   // K × K: expected transitions
    double entropy;  // Σ log scale − Σ r log_e − Σ (first rows) r log start: what remains is −Σ M log P
  };

  /// Responsibilities r (n × L; may be e) from right to left; adds to counts. tell, unless empty, is called
  /// with each row t that does not begin a sequence and P(z_{t−1}, z_t) over C_{t−1} × C_t (L × L).
  void backward(const SparseRows& rows, Index from, Index m, const double* e, const double* alpha,
                const double* scale, double* r, Counts& counts,
                const std::function<void(Index, const double*)>& tell);

 private:
  void enter(const SparseRows& rows, Index t, const double* alpha, double* out);
  void enter_all(const SparseRows& rows, Index t, const double* alpha, const double* e);
  void take_largest(const SparseRows& rows, Index t, const Vec& score, const double* log_all, bool anew);
  double normalise(double* x) const;

  const Chain& chain_;
  Vec ready_, score_, into_;  // K each: α P ∘ e, that times P ν, P ν
  Vec beta_, nu_, terms_;     // L each
  std::vector<const double*> row_;
  Vec joint_;  // L × L
};

extern template class SparseMessages<ScaledNumbers>;
extern template class SparseMessages<LogNumbers>;

}  // namespace bnpvi::chains
