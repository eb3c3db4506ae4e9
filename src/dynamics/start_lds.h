// Where a fit of a switching linear dynamical system begins.
#pragma once
#include "dynamics/learn_lds.h"

namespace bnpvi::dynamics {

struct LdsStart {
  enum class Way {
    one,   // one mode
    rows,  // the modes that rows have when they are taken for hidden states
    best   // the best of the latter and of three of the former, which differ in the windows they try
  };
  Way way;
  std::shared_ptr<const AllocModel> alloc;
  std::shared_ptr<const AllocModel> search;  // the same with the bound of the searches of Way::best
  const ObsModel& ar;                        // of rows that are taken for hidden states
  LatentPaths rows, before;                  // q(x): the rows, and what it is before anything is learned
  Index k;                                   // states of the rows at first
};

/// One mode everywhere, q(x) as given.
LdsState one_mode(const LdsProblem& problem, std::shared_ptr<const AllocModel> alloc, LatentPaths paths);

/// A fit at its start. The searches of Way::best have the bound of `search`, and what the best of them ends
/// with is where the fit begins: under the loose bound a mode more costs so much at first that most windows
/// that are worth one fail (inst/bench/lds.R). With more than a thousand rows the four are compared after
/// twenty laps. A search that the user ends is a fit of one lap, which is interrupted.
Learned begin_lds(const LdsProblem& problem, const LdsStart& start, const LearnOptions& options);

}  // namespace bnpvi::dynamics
