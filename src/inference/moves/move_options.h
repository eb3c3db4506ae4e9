// What a fit asks of its moves.
#pragma once
#include "foundation/types.h"

namespace bnpvi {

/// Which moves to try and how hard; see bnp_moves() in R.
struct MoveOptions {
  bool birth = false, merge = false, remove = false, reorder = true;
  bool adopt = false;  // where there is such a move: accept the births of a lap provisionally and judge them
                       // together a lap later
  Index max_births = 50;   // births tried a lap
  Index birth_size = 10;   // clusters a birth starts from
  Index max_deletes = 10;  // deletes tried a lap
  Index max_merges = 50;   // pairs whose joint entropy is tracked a lap
  double tol = 1e-6;       // nats a unit: a lap of a fit that has converged gains no more (DriverOptions)
};

}  // namespace bnpvi
