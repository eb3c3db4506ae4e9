// What the rows of a sequence say one after the other: hidden Markov models with posterior predictives.
#pragma once
#include <functional>

#include "chains/messages/messages.h"
#include "chains/model/sequence_rows.h"
#include "observations/cluster_densities.h"

namespace bnpvi::chains {

/// One row of a filter; the arrays have a number for each outcome of the chain.
struct StatesOfRow {
  Index row;
  double log_density;   // log p(x_t | x_1 .. t−1), base measure included
  const double* ahead;  // p(z_t | x_1 .. t−1)
  const double* now;    // p(z_t | x_1 .. t)
};

/// Runs through the rows of one sequence. ahead: p(z_t | x_1 .. t−1) of its first row, which becomes that of
/// the row after the last, taken to have the position of the last.
void filter_states(const Chain& chain, const ClusterDensities& densities, const ObsModel& obs,
                   const Dataset& data, const SequenceRows& rows, Vec& ahead,
                   const std::function<void(const StatesOfRow&)>& tell);

}  // namespace bnpvi::chains
