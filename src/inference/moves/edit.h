// A proposal of a move that updates q(z) of some units only.
#pragma once
#include "inference/moves/rounds.h"

namespace bnpvi {

/// The number of clusters whose expected count is at least one observation.
Index occupied(const Summary& s);

/// A proposal that updates q(z) of some units in several rounds, and replaces the state of the fit if that
/// raises the ELBO. Derived classes define the update. UnitEdit (inference/moves/unit_edit.h) uses
/// local_step() of the allocation model; a family of models may define another.
class Edit : public Rounds {
 public:
  /// Makes rounds until the ELBO is above that of `state` (Rounds::rise). If this succeeds, `state` becomes
  /// the proposal, its changes of clusters are also applied to the memory of failed moves, and the result is
  /// true. Otherwise nothing changes, and the result is false.
  ///
  /// If hyperparameters of the prior have posteriors, a proposal that fails is evaluated once more, under the
  /// prior learned from the proposal itself. If it is then accepted, the problem keeps this prior.
  bool climb(State& state, Index max_rounds, double before = -std::numeric_limits<double>::infinity());

  /// The second half of climb(): accepts or refuses the proposal. state: the state that was passed to rise().
  /// rises: what rise() returned.
  bool settle(State& state, bool rises);

  /// Makes the edit refuse proposals that end with fewer than `least` occupied clusters (see occupied()),
  /// even if they raise the ELBO. In such a proposal the gain comes only from updating q(z), not from the
  /// proposed clusters.
  void require_occupied(Index least) { least_occupied_ = least; }

 protected:
  using Rounds::Rounds;
  Edit(const MoveContext& context, Edit&& made)
      : Rounds(context, std::move(made)), least_occupied_(made.least_occupied_) {}

  /// Stores in `edited`, a copy of the state before the edit, what the last round found for the units: the
  /// summaries of the batches that changed and, if the state has them, explicit responsibilities.
  virtual void put_back(State& edited) = 0;

 private:
  bool accept(const Problem& problem, State& state, double present);
  bool accept_under_learned_prior(State& state, double present);

  Index least_occupied_ = 0;
};

}  // namespace bnpvi
