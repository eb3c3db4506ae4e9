// Sums over the rows of a pass from which expected transitions are made.
#pragma once
#include "chains/messages/messages.h"
#include "inference/data/summary.h"

namespace bnpvi::chains {

/// Adds Σ_t from_t to_tᵀ over n rows (n × K each) to sums, which has a K × K matrix for each position of the
/// chain. position: of each row; null: all 0.
void add_pairs(const Chain& chain, Index n, const int* position, const double* from, const double* to,
               double* sums);

/// add_transitions() of messages.h into the statistics of pairs of a summary, those of a position after
/// the other.
double add_transitions(const Chain& chain, const std::vector<Vec>& without_factor, const Vec& log_space,
                       Summary& to);

}  // namespace bnpvi::chains
