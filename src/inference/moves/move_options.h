// Options of a fit for its moves.
#pragma once
#include "foundation/types.h"

namespace bnpvi {

/// Which moves to try and how hard; see bnp_moves() in R.
struct MoveOptions {
  bool birth = false, merge = false, remove = false, reorder = true;
  /// Accept the births of a lap provisionally and judge them together a lap later, in families that have
  /// this kind of move.
  bool adopt = false;
  Index max_births = 50;   // number of births tried per lap
  Index birth_size = 10;   // number of clusters with which a birth starts
  Index max_deletes = 10;  // number of deletes tried per lap
  Index max_merges = 50;   // number of pairs per lap whose joint entropy is computed
  double tol = 1e-6;       // nats per unit: the most that a lap gains once converged (DriverOptions)
};

}  // namespace bnpvi
