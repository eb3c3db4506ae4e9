// State probabilities and densities of the rows of a sequence, each given the rows before: hidden Markov
// models with posterior predictive densities.
#pragma once
#include <functional>

#include "chains/messages/messages.h"
#include "chains/model/sequence_rows.h"
#include "observations/cluster_densities.h"

namespace bnpvi::chains {

/// Result of the filter for one row. The arrays have one number for each outcome of the chain: its states
/// and, if the model has it, the remainder of all states not in use.
struct StatesOfRow {
  Index row;
  double log_density;   // log p(x_t | x_1 .. t−1), base measure included
  const double* ahead;  // state probabilities before the row: p(z_t | x_1 .. t−1)
  const double* now;    // state probabilities after it: p(z_t | x_1 .. t)
};

/// Filters the rows of one sequence and calls `tell` for each row in turn. ahead: on entry p(z_1), the state
/// probabilities of the first row; on return p(z_{n+1} | x_1 .. n), those of the row after the last, which is
/// taken to have the last row's position.
void filter_states(const Chain& chain, const ClusterDensities& densities, const ObsModel& obs,
                   const Dataset& data, const SequenceRows& rows, Vec& ahead,
                   const std::function<void(const StatesOfRow&)>& tell);

}  // namespace bnpvi::chains
