// Messages of hidden Markov trees, on plain arrays.
#pragma once
#include <functional>

#include "chains/messages/messages.h"

namespace bnpvi::chains {

/// The n rows of one or several trees; a parent comes before its children. back: the parent of row t is row t
/// − back[t]; 0 at a root. position: for each row, the number of the transition matrix that leads from its
/// parent to it (Dataset::position); null: 0 for all rows.
struct TreeRows {
  Index n = 0;
  const int* back = nullptr;
  const int* position = nullptr;
};

/// Sums over rows, to which a pass over trees adds. `entropy` receives the entropy of q(z) without the part
/// of the transitions, −Σ M log P with expected transitions M:
///   Σ log Z − Σ r log_e − Σ_roots r log start,
/// where r are the state probabilities of rows.
struct TreeCounts {
  double* start;  // expected states of roots, K numbers
  // expected transitions, laid out as in the chain; only if messages are in log space
  double* log_space_pair;
  double* entropy;
};

/// Upward–downward messages of a hidden Markov tree [Crouse, Nowak and Baraniuk 1998], without recursion. e:
/// potentials of the rows; pa(t): parent of row t; P: transition matrix of the row's position; r: state
/// probabilities given all rows; ∘: product by element.
///   m_t ∝ e_t ∘ Π_{children c} u_c  (at a root also ∘ start),   u_t = P m_t,
///   P(z_pa(t) = i, z_t = j) = (r_pa(t),i / u_ti) P_ij m_tj.
/// The products over children are computed as sums of logarithms, so a node may have any number of children.
/// m_t sums to 1, so numbers stay in range in deep trees.
///
/// As in Chain there are two versions. Scaled messages raise small entries of P to a floor. Messages in log
/// space have no floor. They are for data and transitions that contradict each other so much that scaled
/// messages would depend on the floor.
class TreeMessages {
 public:
  /// log_space: whether all passes of this object work in log space.
  TreeMessages(const Chain& chain, bool log_space);

  /// Passes messages from the leaves to the roots. log_e (n × K): log potentials. m and u (n × K): receive
  /// the messages of each row, as logarithms if in log space; u of roots is not set. Returns the log evidence
  /// log Z, summed over trees.
  double upward(const TreeRows& rows, const double* log_e, double* m, double* u);

  /// Passes messages from the roots to the leaves, after upward(). log_z: what upward() returned. log_e:
  /// receives the state probabilities r of each row given all rows. u: unless in log space, receives r_pa(t)
  /// / u_t, with pa(t) the parent of row t (0 at roots). The expected transitions without the factor P are
  /// then Σ_t u_t m_tᵀ over the rows of each position. tell: if not empty, it is called for each row t that
  /// has a parent, with t and P(z_pa(t), z_t) (K × K). Returns false if the result may depend on the floor to
  /// which small potentials are raised.
  bool downward(const TreeRows& rows, double log_z, double* log_e, const double* m, double* u,
                const TreeCounts& to, const std::function<void(Index, const double*)>& tell = {});

 private:
  // Computes the state probabilities r of one row from those of its parent, in the pass from roots to leaves.
  // block: where the transition matrix of the row begins (Chain::block()).
  bool step_down(Index block, const double* parent, const double* m, double* u, double* r);
  void log_space_step_down(Index block, const double* parent, const double* m, const double* u, double* r,
                           double* pair);

  const Chain& chain_;
  const bool log_space_;
  Vec ones_, terms_, joint_;  // scratch: K, K, K × K
};

/// The log evidence log Z = log Σ_z Π start P e of hidden Markov trees, summed over trees. log_e (n × K): log
/// potentials log e.
double log_evidence(const Chain& chain, const TreeRows& rows, const Vec& log_e);

/// Finds the most probable states z of all rows together, by max-product messages. log_e (n × K): log
/// potentials. state: receives the state of each row, 0 .. K − 1; if two are equally probable, the smaller
/// number. Memory: 12 n K bytes.
void most_probable_states(const Chain& chain, const TreeRows& rows, const double* log_e, int* state);

}  // namespace bnpvi::chains
