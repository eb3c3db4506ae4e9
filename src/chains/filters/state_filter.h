// State probabilities and densities of the rows of a sequence, each given the rows before: hidden Markov
// models with posterior predictive densities.
#pragma once
#include <functional>

#include "chains/messages/messages.h"
#include "chains/model/sequence_rows.h"
#include "observations/cluster_densities.h"

namespace bnpvi::chains {

/// What the filter knows of one row x_t of a sequence. ahead and now have one number for each of the K states
/// in use and, if any number of states is possible, one more for all states not in use together.
struct StatesOfRow {
  Index row;
  // log p(x_t | x_1 .. t−1), including the base measure (the part of the likelihood that no parameter enters)
  double log_density;
  const double* ahead;  // before row t is seen: state probabilities p(z_t | x_1 .. t−1)
  const double* now;    // after row t is seen: state probabilities p(z_t | x_1 .. t)
};

/// Filters the n rows of one sequence, and calls `tell` with the result of each row in turn. ahead: on entry
/// the state probabilities p(z_1) of the first row; on return p(z_{n+1} | x_1 .. n), those of the row after
/// the last. For this step the transition matrix is the one that led into the last row.
void filter_states(const Chain& chain, const ClusterDensities& densities, const ObsModel& obs,
                   const Dataset& data, const SequenceRows& rows, Vec& ahead,
                   const std::function<void(const StatesOfRow&)>& tell);

}  // namespace bnpvi::chains
