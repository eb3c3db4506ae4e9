// Moves that divide the rows of one or several states among new states.
#pragma once
#include <limits>

#include "chains/moves/chain_search.h"
#include "foundation/random.h"
#include "inference/moves/room.h"

namespace bnpvi::chains {

/// As the least forecast gain of a proposal: the proposal is tried whatever its forecast is.
constexpr double any_change = -std::numeric_limits<double>::infinity();

/// Base class of moves that divide the rows of a target, one or several states with ascending numbers, among
/// new states. Rows change their state as stretches of consecutive rows, or as one block. If the target has
/// several states, the others join its first one. If the number of states is fixed, each new state needs a
/// place. In the same proposal, another state is then dropped or joins a second one; both may be states of
/// the target.
class HmmDivision : public HmmMove {
 public:
  HmmDivision(const MoveContext& context, const HmmAlloc& alloc) : HmmMove(context, alloc, true) {}
  using HmmMove::HmmMove;

 protected:
  /// Whether state j may be divided. If the number of states is fixed, another state must be able to make
  /// place for the new one: an idle state, or one that can join a second one.
  bool has_room(const State& state, Index j) const;

  /// Chooses the sequences whose rows are divided: all sequences with rows of the target states. If these
  /// have more than 2^16 rows, a random choice of the sequences that has at least 2^16 rows. At least one
  /// sequence.
  Sequences sequences_of(const std::vector<Index>& target, Stream& stream) const;

  /// The runs of consecutive rows in the target states in these sequences, cut into stretches of at most
  /// `longest` rows. In trees, each row of a run except the first has its parent in the run.
  std::vector<Stretch> stretches_of(const std::vector<Index>& target, const Sequences& sequences,
                                    Index longest) const;

  /// Proposes to divide these stretches of rows among at most k states. The first of the k states gets the
  /// number of the target state, and the target's rows in all other sequences. The proposal ends before any
  /// row is visited if the forecast gain of the observations' log evidence is below `least` (nats).
  bool divide(State& state, const std::vector<Index>& target, const Sequences& sequences,
              std::vector<Stretch> stretches, Index k, double least, Stream& stream);

  /// Proposes one or two new states for a block of rows around a random row of state j, whatever the present
  /// states of these rows are (best_cut()). The block has random length; in trees it is a subtree. least: as
  /// for divide().
  bool divide_block(State& state, Index j, const Sequences& sequences, double least, Stream& stream);

 private:
  // A proposal that moves some stretches of rows to new states 0 .. born − 1 with statistics t. kept:
  // statistic of the first target state at the first visit (update of q(z)) after the division; empty: its
  // present statistic.
  struct Newborn {
    Index born = 0;
    Vec t, kept;
    std::vector<Stretch> stretches;
    std::vector<Index> state;  // new state of each stretch; −1: it stays in the target
    int owner = 0;             // class that the new states belong to (Summary::owner)
  };

  bool propose(State& state, const std::vector<Index>& target, const Sequences& sequences,
               const Newborn& birth);
  // False if the forecast gain of the proposal is below `least` (nats). An observer of the fit (in tests) may
  // then ask for the gain that the refused proposal would have reached; this does not change the answer.
  bool promises(State& state, const std::vector<Index>& target, const Sequences& sequences,
                const Newborn& birth, double least);
  // Forecast of the change of the observations' log evidence if all rows of the proposal take their new
  // states. Each row is counted in its most probable state before the proposal.
  double forecast(const State& state, const std::vector<Index>& target, const Sequences& sequences,
                  const Newborn& birth) const;
  // The stretches of all rows that may change state, ascending: rows of the target states, and rows of every
  // state that now has rows in the stretches of the proposal.
  std::vector<Stretch> rows_to_change(const std::vector<Index>& target, const Sequences& sequences,
                                      const Newborn& birth) const;
  Summary start_of(const State& state, const std::vector<Index>& target, const Newborn& birth) const;
  // The class (owner) of a new state for this block of rows. All labels in the block must allow it; the class
  // of state j is preferred. 0 if no row of the block has a label; empty if no class is allowed by all
  // labels.
  std::optional<int> owner_of_block(const State& state, Index j, const Sequences& sequences,
                                    const Stretch& block) const;
  // True if a stretch that begins at row `begin` can contain this row: it is the first row of the stretch, or
  // its parent is in the stretch.
  bool hangs_together(Index begin, Index row) const;
  double mass_in(const std::vector<Index>& sequences, const std::vector<Index>& target) const;
};

}  // namespace bnpvi::chains
