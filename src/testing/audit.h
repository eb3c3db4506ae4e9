// For tests: recomputes every state of a fit from its responsibilities q(z) and reports deviations.
#pragma once
#include "inference/learn/observer.h"
#include "inference/learn/state.h"

namespace bnpvi::testing {

/// Compares every state whose ELBO is computed, including proposals, with a state recomputed from its q(z)
/// alone. q(z) is given by explicit responsibilities (State::assignments), or follows from the memory of the
/// units (rows, groups or documents). Statistics and entropy of every batch, the total, and the ELBO are
/// compared. Deviations are relative. A state with neither responsibilities nor memory counts as infinitely
/// wrong, so that a move that loses them is found. Of the statistics of pairs, only those of consecutive rows
/// of a group are checked, with one number each (SummaryShape::pairs = 1).
///
/// If rows lack cells (ExpectedCells), the expectations depend on when a row was visited. Then only the
/// counts are compared, not the other statistics, and the ELBO must not exceed the ELBO of a state with
/// updated expectations.
class Audit final : public Observer {
 public:
  bool wants_assignments() const override { return true; }
  bool wants_spared_work() const override { return true; }
  void restarted() override { any_ = false; }
  void computed(const Problem& problem, const State& state) override;
  void accepted(const State& state) override;  // its ELBO must not be below that of the previous state
  void predicted(double foretold, const State& state, Index rounds) override;
  void foreseen(double foretold, const State& state) override;
  void replaced(double before, double after, const std::function<double()>& anew) override;

  Index checks = 0;
  double elbo = 0;  // largest deviation of the ELBO
  // largest deviation of the batches' statistics; each feature is relative to its sum over clusters
  double statistics = 0;
  double entropy = 0;        // largest deviation of the batches' entropies
  double sums = 0;           // largest deviation of the total from the sum of the batches
  Index moves = 0;           // number of moves that predicted their gain
  Index rounds = 0;          // largest number of rounds in one of these moves
  Index n_foreseen = 0;      // number of proposals whose ELBO was known in advance
  double gain = 0;           // largest deviation of the predicted from the recomputed ELBO
  double smallest_gain = 0;  // smallest gain of a step, relative to the ELBO; 0 if all were gains
  Index weights = 0;         // largest number of sets of weights in a batch's memory (UnitMemory::n_weights)

 private:
  Monitor silent_;
  Pool pool_{1, silent_};
  bool any_ = false;
  double last_ = 0;
};

}  // namespace bnpvi::testing
