// A proposal that visits some units again and leaves the others as they are.
#pragma once
#include "inference/moves/rounds.h"

namespace bnpvi {

/// Number of clusters with at least one observation.
Index occupied(const Summary& s);

/// Rounds on some units; what rises replaces the state. Derived classes say how the units are visited:
/// UnitEdit (inference/moves/unit_edit.h) by the local step of the allocation model; a family may have a way
/// of its own.
class Edit : public Rounds {
 public:
  /// Rounds until the ELBO is above that of `state`, which the edited state then replaces; the changes are
  /// made to the memory of moves too, and true comes back. False, and everything as it was, where it does not
  /// rise (Rounds::rise).
  ///
  /// What fails under a prior whose hyperparameters have posteriors is judged once more under the prior that
  /// the proposal itself teaches; when that is accepted, the problem has this prior from then on.
  bool climb(State& state, Index max_rounds, double before = -std::numeric_limits<double>::infinity());

  /// The second half of climb(), at the state that was given to rise(), which returned `rises`.
  bool settle(State& state, bool rises);

  /// Refuses what climbs but ends with fewer than `least` clusters of at least one observation: it owes its
  /// gain to the rounds alone.
  void require_occupied(Index least) { least_occupied_ = least; }

 protected:
  using Rounds::Rounds;

  /// Puts the changed batches, with the units as they were visited last, into `edited`, a copy of the state
  /// that the edit began with; likewise explicit responsibilities, if it has any.
  virtual void put_back(State& edited) = 0;

 private:
  bool accept(const Problem& problem, State& state, double present);
  bool accept_under_learned_prior(State& state, double present);

  Index least_occupied_ = 0;
};

}  // namespace bnpvi
