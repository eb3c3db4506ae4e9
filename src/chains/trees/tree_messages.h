// Messages of hidden Markov trees, on plain arrays.
#pragma once
#include <functional>

#include "chains/messages/messages.h"

namespace bnpvi::chains {

/// Rows of one or several trees, parents before their children. back: the parent of row t is row t − back[t];
/// 0 at a root. position: for each row, the number of the chain's transition matrix that leads into it
/// (Dataset::position); null: 0 for all rows.
struct TreeRows {
  Index n = 0;
  const int* back = nullptr;
  const int* position = nullptr;
};

/// Sums over rows to which a pass over trees adds: expected states of roots, and
///   Σ log Z − Σ r log_e − Σ_roots r log start,
/// the entropy of q(z) without its part of the transitions, −Σ M log P.
struct TreeCounts {
  double* start;           // expected states of roots, K numbers
  double* log_space_pair;  // expected transitions, laid out as in the chain; in log space only
  double* entropy;
};

/// Upward–downward messages of a hidden Markov tree [Crouse, Nowak and Baraniuk 1998], without recursion.
/// With e the potentials of the rows,
///   m_t ∝ e_t ∘ Π_{children c} u_c  (at a root also ∘ start),   u_t = P m_t,
///   P(z_pa(t) = i, z_t = j) = (r_pa(t),i / u_ti) P_ij m_tj,
/// where pa(t) is the row's parent, P the transition matrix of the row's position, and r are the
/// responsibilities. The products over children are sums of logarithms, so that a node may have any number of
/// them; m_t sums to 1, so that depth does not matter.
///
/// As in Chain there are two versions: scaled numbers with P floored, and log space without floors, for data
/// and transitions that contradict each other so much that scaled numbers depend on a floor.
class TreeMessages {
 public:
  /// log_space: whether all passes of this object work in log space.
  TreeMessages(const Chain& chain, bool log_space);

  /// Passes messages from the leaves to the roots. log_e (n × K): log potentials; m and u (n × K): receive
  /// the messages of each row, as logarithms in log space; u of roots is not set. Returns log Z, the log
  /// evidence summed over trees.
  double upward(const TreeRows& rows, const double* log_e, double* m, double* u);

  /// Passes messages from the roots to the leaves, after upward(). log_e becomes the responsibilities r
  /// (state probabilities). Unless in log space, u becomes r_pa(t) / u_t (0 at roots), with pa(t) the row's
  /// parent. This gives the expected transitions without the factor P: Σ_t u_t m_tᵀ over the rows of each
  /// position. log_z: what upward() returned. tell, unless empty, is called for each row t that has a parent,
  /// with t and P(z_pa(t), z_t) (K × K). Returns false if the result may depend on a floor of the potentials.
  bool downward(const TreeRows& rows, double log_z, double* log_e, const double* m, double* u,
                const TreeCounts& to, const std::function<void(Index, const double*)>& tell = {});

 private:
  // Computes the responsibilities r of one row from those of its parent, in the pass from roots to leaves.
  // block: Chain::block() of the row's position.
  bool step_down(Index block, const double* parent, const double* m, double* u, double* r);
  void log_space_step_down(Index block, const double* parent, const double* m, const double* u, double* r,
                           double* pair);

  const Chain& chain_;
  const bool log_space_;
  Vec ones_, terms_, joint_;  // scratch: K, K, K × K
};

/// The log evidence log Z = log Σ_z Π start P e of hidden Markov trees, summed over trees, for log potentials
/// log_e (n × K).
double log_evidence(const Chain& chain, const TreeRows& rows, const Vec& log_e);

/// Finds the most probable states of all rows together given log potentials (n × K), by max-product messages;
/// ties go to the smaller state. States are numbered from 0. Memory: 12 bytes for each of n × K numbers.
void most_probable_states(const Chain& chain, const TreeRows& rows, const double* log_e, int* state);

}  // namespace bnpvi::chains
