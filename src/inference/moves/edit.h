// A proposal that visits some units again and leaves the others as they are.
#pragma once
#include "inference/moves/rounds.h"

namespace bnpvi {

/// The number of clusters with at least one observation.
Index occupied(const Summary& s);

/// A proposal made by rounds on some units, which replaces the state if it raises the ELBO. Derived classes
/// define how the units are visited: UnitEdit (inference/moves/unit_edit.h) by the local step of the
/// allocation model; a family may have its own way.
class Edit : public Rounds {
 public:
  /// Makes rounds until the ELBO is above that of `state`. Then the edited state replaces `state`, the memory
  /// of moves is changed in the same way, and the result is true. If the ELBO does not rise (Rounds::rise),
  /// everything stays as it was, and the result is false.
  ///
  /// If hyperparameters of the prior have posteriors, a proposal that fails is evaluated once more under the
  /// prior learned from the proposal itself; if it is accepted then, the problem uses this prior from then
  /// on.
  bool climb(State& state, Index max_rounds, double before = -std::numeric_limits<double>::infinity());

  /// The second half of climb(), which accepts or refuses the proposal, for the state that was given to
  /// rise(). rises: the result of rise().
  bool settle(State& state, bool rises);

  /// Refuses proposals that end with fewer than `least` occupied clusters (those with at least one
  /// observation), even if they raise the ELBO: such a gain comes from the rounds alone.
  void require_occupied(Index least) { least_occupied_ = least; }

 protected:
  using Rounds::Rounds;

  /// Stores the changed batches, with the units as last visited, in `edited`, a copy of the state with which
  /// the edit began; likewise explicit responsibilities, if there are any.
  virtual void put_back(State& edited) = 0;

 private:
  bool accept(const Problem& problem, State& state, double present);
  bool accept_under_learned_prior(State& state, double present);

  Index least_occupied_ = 0;
};

}  // namespace bnpvi
