// Recomputation of every state of a fit from its q(z), for tests.
#pragma once
#include "inference/learn/observer.h"
#include "inference/learn/state.h"

namespace bnpvi::testing {

/// Compares every state whose ELBO is computed, proposals included, with one recomputed from nothing but its
/// q(z), explicit responsibilities (State::assignments) or what the memory of the units says: the statistics
/// and the entropy of every batch, the total, and the ELBO. Deviations are relative; a state with neither
/// counts as infinitely wrong, so that a move which forgets them is found. Of pairs it knows those of
/// consecutive rows of a group, one number each (SummaryShape::pairs = 1).
///
/// Where rows lack cells (ExpectedCells), what is expected of these depends on when the row was visited:
/// the state is compared with one in which they are expected anew, which must not be below it, and of the
/// statistics only the counts are.
class Audit final : public Observer {
 public:
  bool wants_assignments() const override { return true; }
  bool wants_spared_work() const override { return true; }
  void restarted() override { any_ = false; }
  void computed(const Problem& problem, const State& state) override;
  void accepted(const State& state) override;  // its ELBO must not be below the last one's
  void predicted(double foretold, const State& state, Index rounds) override;
  void foreseen(double foretold, const State& state) override;
  void replaced(double before, double after, const std::function<double()>& anew) override;

  Index checks = 0;
  double elbo = 0;           // of the ELBO
  double statistics = 0;     // of the batches' statistics; of each feature, relative to the sum over clusters
  double entropy = 0;        // of the batches' entropies
  double sums = 0;           // between the total and the sum of the batches
  Index moves = 0;           // that predicted their gain
  Index rounds = 0;          // most that one of these took
  Index n_foreseen = 0;      // proposals whose ELBO was known before they were made
  double gain = 0;           // between predicted and recomputed ELBO
  double smallest_gain = 0;  // of all steps, relative to the ELBO; 0 when all were gains
  Index weights = 0;         // most sets of weights that the memory of a batch kept (UnitMemory::n_weights)

 private:
  Monitor silent_;
  Pool pool_{1, silent_};
  bool any_ = false;
  double last_ = 0;
};

}  // namespace bnpvi::testing
