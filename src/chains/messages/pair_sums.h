// Sums of products of messages over rows, from which expected transitions between states are computed.
#pragma once
#include <vector>

#include "chains/messages/messages.h"
#include "inference/data/summary.h"

namespace bnpvi::chains {

/// The sums Σ_t from_t to_tᵀ over rows t, where from and to (n × K) are messages. There is one K × K matrix
/// for each position (number of the transition matrix that leads into the row), in the layout of the chain's
/// transitions. If there are many positions, few rows of one call of add() have the same position. Rows are
/// then copied first; as soon as 16 rows of a position are there, they are multiplied together. Memory: 8 K²
/// + 256 K bytes for each position.
class PairSums {
 public:
  explicit PairSums(const Chain& chain) : chain_(&chain), sums_(chain.log_transition.size(), 0.0) {}

  /// Adds n rows. position: position of each row; null: 0 for all rows.
  void add(Index n, const int* position, const double* from, const double* to);
  /// Returns the sums over all rows that were added. No rows may be added later.
  Vec finish();

 private:
  void add_kept(Index position);

  const Chain* chain_;
  Vec sums_;
  std::vector<Index> n_kept_;  // by position: number of copied rows that are not in sums_ yet
  Buffer kept_;                // the copied rows, by position: 16 × K of `from`, then 16 × K of `to`
};

/// Computes expected transitions, adds them to the pair statistics of the summary `to`, and returns their
/// part of the entropy. For the other arguments see add_transitions() in messages.h. In the pair statistics
/// the position (number of the transition matrix) is the last index, not the first.
double add_transitions(const Chain& chain, std::vector<PairSums>& without_factor, const Vec& log_space,
                       Summary& to);

}  // namespace bnpvi::chains
