// Starts of fits of switching linear dynamical systems.
#pragma once
#include "dynamics/learn_lds.h"

namespace bnpvi::dynamics {

struct LdsStart {
  enum class Way {
    one,   // one mode for all rows
    rows,  // modes found by fitting a hidden Markov model to the rows as if they were the hidden states
    best   // the best of one fit from `rows` and three from `one`, which try different windows
  };
  Way way;
  std::shared_ptr<const AllocModel> alloc;
  /// The model of the modes for the searches of Way::best. It is like alloc, but has another bound (see
  /// begin_lds()).
  std::shared_ptr<const AllocModel> search;
  const ObsModel& ar;        // autoregressive model in which observed rows are taken for hidden states
  LatentPaths rows, before;  // q(x): equal to the observed rows; and before anything is learned
  Index k;                   // initial number of modes for Way::rows
};

/// Makes the state in which all rows have one mode, with this q(x) (paths), the posterior of hidden states.
LdsState one_mode(const LdsProblem& problem, std::shared_ptr<const AllocModel> alloc, LatentPaths paths);

/// Returns a fit at its start. With Way::best, four searches run with the bound of `search`, and the fit
/// begins where the best of them ends. The reason: the bound of the fit itself is loose. Under it an
/// additional mode costs so much at first that most windows worth a mode would fail (inst/bench/lds.R). With
/// more than a thousand rows the four searches are compared after twenty laps. If the user ends a search, the
/// result is an interrupted fit of one lap (pass over the data).
Learned begin_lds(const LdsProblem& problem, const LdsStart& start, const LearnOptions& options);

}  // namespace bnpvi::dynamics
