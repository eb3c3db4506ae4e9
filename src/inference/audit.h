// Bookkeeping proved from the responsibilities, for the tests.
#pragma once
#include "inference/state.h"

namespace bnpvi {

/// Compares every state whose ELBO is computed, proposals included, with one recomputed from nothing but its
/// q(z), explicit responsibilities (State::assignments) or what the memory of the units says: the statistics
/// and the entropy of every batch, the total, and the ELBO. Deviations are relative; a state with neither
/// counts as infinitely wrong, so that a move which forgets them is found. A fit has no Audit unless it is
/// asked for.
class Audit {
 public:
  void check(const Problem& problem, const State& state);
  /// A move is accepted that predicted this ELBO of the state it makes.
  void predict(double predicted, const State& state);
  /// A proposal that may be refused unseen was predicted this ELBO.
  void predict_unmade(double predicted, const State& state);

  /// The state that now holds, after a local step, a move or a lap: its ELBO must not be below the last
  /// one's.
  void accept(const State& state);

  /// A fit from another start begins.
  void restart() { any_ = false; }

  Index checks = 0;
  double elbo = 0;           // of the ELBO
  double statistics = 0;     // of the batches' statistics; of each feature, relative to the sum over clusters
  double entropy = 0;        // of the batches' entropies
  double sums = 0;           // between the total and the sum of the batches
  Index moves = 0;           // that predicted their gain
  Index predicted_unmade = 0;  // proposals whose ELBO was known before they were made
  double gain = 0;           // between predicted and recomputed ELBO
  double smallest_gain = 0;  // of all steps, relative to the ELBO; 0 when all were gains
  Index weights = 0;         // most sets of weights that the memory of a batch kept (UnitMemory::n_weights)

 private:
  Monitor silent_;
  Pool pool_{1, silent_};
  bool any_ = false;
  double last_ = 0;
};

}  // namespace bnpvi
