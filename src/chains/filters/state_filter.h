// State probabilities and densities of the rows of a sequence, each given the rows before: hidden Markov
// models with posterior predictive densities.
#pragma once
#include <functional>

#include "chains/messages/messages.h"
#include "chains/model/sequence_rows.h"
#include "observations/cluster_densities.h"

namespace bnpvi::chains {

/// Result of the filter for one row x_t of a sequence. Each array has one number for each of the K states
/// and, if the model is open-ended, a last one for all states not in use together.
struct StatesOfRow {
  Index row;
  // log p(x_t | x_1 .. t−1), including the base measure (the factor of the likelihood without parameters)
  double log_density;
  const double* ahead;  // state probabilities before row t is seen: p(z_t | x_1 .. t−1)
  const double* now;    // state probabilities after row t is seen: p(z_t | x_1 .. t)
};

/// Filters the rows of one sequence and calls `tell` with the result of each row in turn. ahead: on entry
/// p(z_1), the state probabilities of the first row; on return p(z_{n+1} | x_1 .. n), those of the row after
/// the last (with the transition matrix by which the last row was reached).
void filter_states(const Chain& chain, const ClusterDensities& densities, const ObsModel& obs,
                   const Dataset& data, const SequenceRows& rows, Vec& ahead,
                   const std::function<void(const StatesOfRow&)>& tell);

}  // namespace bnpvi::chains
