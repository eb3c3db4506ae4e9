// Messages of hidden Markov trees on plain arrays.
#pragma once
#include <functional>

#include "chains/messages/messages.h"

namespace bnpvi::chains {

/// Rows of one or several trees, parents before their children. back: the parent of row t is row t − back[t];
/// 0 at a root. position: for each row, which of the chain's transition matrices leads into it
/// (Dataset::position); null: all 0.
struct TreeRows {
  Index n = 0;
  const int* back = nullptr;
  const int* position = nullptr;
};

/// Sums to which a pass over trees adds: expected states of roots, and
///   Σ log Z − Σ r log_e − Σ_roots r log start,
/// the entropy without its part of the transitions, −Σ M log P.
struct TreeCounts {
  double* start;           // expected states of roots, K numbers
  double* log_space_pair;  // expected transitions, laid out as in the chain; in log space only
  double* entropy;
};

/// Upward–downward messages [Crouse, Nowak and Baraniuk 1998], without recursion. With e the potentials,
///   m_t ∝ e_t ∘ Π_{children c} u_c  (at a root also ∘ start),   u_t = P m_t,
///   P(z_pa(t) = i, z_t = j) = (r_pa(t),i / u_ti) P_ij m_tj,
/// where P is the transition matrix of the row's position and r are the responsibilities. The products over
/// children are sums of logarithms, so that a node may have any number of them; m_t sums to 1, so that depth
/// does not matter.
///
/// As in Chain there are two versions: scaled numbers with P floored, and log space without floors, for data
/// and transitions that contradict each other so much that scaled numbers depend on a floor.
class TreeMessages {
 public:
  /// log_space: whether all passes of this object work in log space.
  TreeMessages(const Chain& chain, bool log_space);

  /// Pass from the leaves to the roots. log_e (n × K): log potentials; m and u (n × K): receive the messages,
  /// as logarithms in log space; u of roots is not set. Returns log Z, summed over trees.
  double upward(const TreeRows& rows, const double* log_e, double* m, double* u);

  /// Pass from the roots to the leaves, after upward(). log_e becomes the responsibilities r. Unless in log
  /// space, u becomes r_pa(t) / u_t (0 at roots), which gives the expected transitions without the factor P:
  /// Σ_t u_t m_tᵀ over the rows of each position. log_z: what upward() returned. tell, unless empty, is
  /// called with each row t that has a parent and P(z_pa(t), z_t) (K × K). Returns false when the result may
  /// depend on a floor.
  bool downward(const TreeRows& rows, double log_z, double* log_e, const double* m, double* u,
                const TreeCounts& to, const std::function<void(Index, const double*)>& tell = {});

 private:
  // The downward step of one row, from its parent's responsibilities. block: Chain::block() of the row's
  // position.
  bool step_down(Index block, const double* parent, const double* m, double* u, double* r);
  void log_space_step_down(Index block, const double* parent, const double* m, const double* u, double* r,
                           double* pair);

  const Chain& chain_;
  const bool log_space_;
  Vec ones_, terms_, joint_;  // scratch: K, K, K × K
};

/// log Z = log Σ_z Π start P e, the log evidence summed over trees, for log potentials log_e (n × K).
double log_evidence(const Chain& chain, const TreeRows& rows, const Vec& log_e);

/// Most probable states given log potentials (n × K), by max-product messages; ties go to the smaller state.
/// state is written 0-based. Memory: n × K numbers of 12 bytes.
void most_probable_states(const Chain& chain, const TreeRows& rows, const double* log_e, int* state);

}  // namespace bnpvi::chains
