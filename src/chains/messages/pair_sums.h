// Sums of products of messages over rows, from which expected transitions between states are computed.
#pragma once
#include <vector>

#include "chains/messages/messages.h"
#include "inference/data/summary.h"

namespace bnpvi::chains {

/// Sums Σ_t from_t to_tᵀ of messages (from, to: n × K): one K × K matrix for each position of a row (number
/// of its transition matrix in the chain), in the layout of the chain's transitions. If there are many
/// positions, few rows of a call have the same one. Rows are then copied, and those of a position are
/// multiplied once there are 16. Memory: 8 K² + 256 K bytes for each position.
class PairSums {
 public:
  explicit PairSums(const Chain& chain) : chain_(&chain), sums_(chain.log_transition.size(), 0.0) {}

  /// Adds n rows. position: position of each row; null: 0 for all rows.
  void add(Index n, const int* position, const double* from, const double* to);
  /// The sums of all rows that were added; nothing may be added later.
  Vec finish();

 private:
  void add_kept(Index position);

  const Chain* chain_;
  Vec sums_;
  std::vector<Index> n_kept_;  // by position: number of rows that are not in sums_ yet
  Vec kept_;                   // these rows: by position 16 × K of `from`, then of `to`
};

/// Computes expected transitions, adds them to the pair statistics of a summary and returns their entropy.
/// Unlike the result of add_transitions() in messages.h, pair statistics have the position (number of the
/// transition matrix) as their last index.
double add_transitions(const Chain& chain, std::vector<PairSums>& without_factor, const Vec& log_space,
                       Summary& to);

}  // namespace bnpvi::chains
