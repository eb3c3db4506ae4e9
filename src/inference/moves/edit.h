// A proposal that visits some units again and leaves the others as they are.
#pragma once
#include <limits>

#include "inference/moves/changes.h"
#include "inference/moves/move.h"

namespace bnpvi {

/// Number of clusters with at least one observation.
Index occupied(const Summary& s);

/// Some units are taken out of a state, the clusters of what is left change, and the units are brought back
/// by rounds of a local and a global step. All other units keep their responsibilities, so the changes must
/// need no look at them: merges of clusters that no other unit uses together, drops of clusters that no
/// other unit uses, new clusters, another order. The state itself stays as it is until climb() accepts.
///
/// Derived classes say how the units are visited: UnitEdit (inference/moves/unit_edit.h) by the local step of
/// the allocation model; a family may have a way of its own.
class Edit {
 public:
  virtual ~Edit() = default;

  /// Globals for the first visit; called once, before the first round.
  void begin_at(Globals first) { proposed_.globals = std::move(first); }

  /// A local step on the units and a global step. Returns the ELBO of the whole data.
  double round();

  /// Rounds until the ELBO is above that of `state`, which the edited state then replaces; the changes are
  /// made to the memory of moves too, and true comes back. False, and everything as it was, after max_rounds,
  /// or as soon as the gap is more than the rounds left would close if each gained as much as the last: gains
  /// shrink. before: the ELBO before the first of these rounds, where it is known.
  ///
  /// What fails under a prior whose hyperparameters have posteriors is judged once more under the prior that
  /// the proposal itself teaches; when that is accepted, the problem has this prior from then on.
  bool climb(State& state, Index max_rounds, double before = -std::numeric_limits<double>::infinity());

  /// Refuses what climbs but ends with fewer than `least` clusters of at least one observation: it owes its
  /// gain to the rounds alone.
  void require_occupied(Index least) { least_occupied_ = least; }

  Index rounds() const { return rounds_; }
  /// ELBO, globals and the whole-data summary after the last round; without batches.
  const State& proposed() const { return proposed_; }

 protected:
  Edit(const MoveContext& context, Changes changes) : c_(context), changes_(std::move(changes)) {}

  /// A local step on the units under the changed clusters, as round rounds(); adds their summary to `total`.
  virtual void visit(const Globals& globals, Summary& total) = 0;

  /// Puts the changed batches, with the units as they were visited last, into `edited`, a copy of the state
  /// that the edit began with; likewise explicit responsibilities, if it has any.
  virtual void put_back(State& edited) = 0;

  const MoveContext& c_;
  Changes changes_;
  Summary rest_;  // the whole data without the units, changed: derived classes set it

 private:
  bool accept(const Problem& problem, State& state, double present);
  bool accept_under_learned_prior(State& state, double present);

  State proposed_;
  Index rounds_ = 0, least_occupied_ = 0;
};

}  // namespace bnpvi
