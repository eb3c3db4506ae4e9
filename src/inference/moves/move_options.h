// Options for the moves of a fit (births, merges and deletes of clusters).
#pragma once
#include "foundation/types.h"

namespace bnpvi {

/// Which moves a fit tries, and how many of them; see bnp_moves() in R.
struct MoveOptions {
  bool birth = false, merge = false, remove = false, reorder = true;
  /// True: births of new clusters are accepted provisionally. All births of one lap (pass over all batches)
  /// are judged together a lap later. Only in families with this kind of move.
  bool adopt = false;
  Index max_births = 50;   // number of births tried per lap
  Index birth_size = 10;   // number of clusters with which a birth starts
  Index max_deletes = 10;  // number of deletes tried per lap
  Index max_merges = 50;   // number of pairs per lap whose joint entropy is computed
  double tol = 1e-6;       // nats per unit: a fit has converged if a lap gains at most this (DriverOptions)
};

}  // namespace bnpvi
