// Moves that divide the rows of one or several states among new states.
#pragma once
#include "chains/moves/chain_search.h"
#include "foundation/random.h"
#include "inference/moves/room.h"

namespace bnpvi::chains {

/// Base class of moves that give new states to rows of a target: one state or several, ascending. Rows change
/// either as stretches of consecutive rows or as one block. All states of the target but the first are joined
/// to the first. Where K is fixed, as many states must be joined or dropped in the same proposal as are
/// added; those of the target count among them.
class HmmDivision : public HmmMove {
 public:
  HmmDivision(const MoveContext& context, const HmmAlloc& alloc) : HmmMove(context, alloc, true) {}

 protected:
  /// False where K is fixed and state j cannot be divided: no other state can be removed for a new one, since
  /// none is idle and no two of them can be joined.
  bool has_room(const State& state, Index j) const;

  /// Chooses the sequences to divide: those with rows of the target, or, if these have more than 2^16 rows, a
  /// random choice that has at least as many. At least one sequence.
  Sequences sequences_of(const std::vector<Index>& target, Stream& stream) const;

  /// Runs of consecutive rows of the target in these sequences, cut into stretches of at most `longest` rows.
  /// In trees, the parent of every row of a run but the first is in the same run.
  std::vector<Stretch> stretches_of(const std::vector<Index>& target, const Sequences& sequences,
                                    Index longest) const;

  /// Proposes to divide these stretches among at most k states. The first of these keeps the target's number
  /// and its mass in other sequences.
  bool divide(State& state, const std::vector<Index>& target, const Sequences& sequences,
              std::vector<Stretch> stretches, Index k, Stream& stream);

  /// Proposes one or two new states for a block of random length (in trees a subtree) around a random row of
  /// state j, whatever states the rows of the block have now (best_cut()).
  bool divide_block(State& state, Index j, const Sequences& sequences, Stream& stream);

 private:
  // A proposed birth: new states 0 .. born − 1 with statistics t, and the new state of each stretch. kept:
  // unless empty, it replaces the target's statistic.
  struct Newborn {
    Index born = 0;
    Vec t, kept;
    std::vector<Stretch> stretches;
    std::vector<Index> state;  // new state of each stretch; −1: the target
    int owner = 0;             // class of the new states (Summary::owner)
  };

  bool propose(State& state, const std::vector<Index>& target, const Sequences& sequences,
               const Newborn& birth);
  // Stretches of all rows that may change state: rows of the target, and of all states that the birth's
  // stretches have now; ascending.
  std::vector<Stretch> rows_to_change(const std::vector<Index>& target, const Sequences& sequences,
                                      const Newborn& birth) const;
  Summary start_of(const State& state, const std::vector<Index>& target, const Newborn& birth) const;
  // The owner (class) of a new state for this block: one that all labels in the block allow, if possible the
  // owner of state j; 0 where no row has a label; nothing where no class is allowed by all.
  std::optional<int> owner_of_block(const State& state, Index j, const Sequences& sequences,
                                    const Stretch& block) const;
  // For a stretch that begins at row `begin`: whether it contains this row's parent, or the row is its first.
  bool hangs_together(Index begin, Index row) const;
  double mass_in(const std::vector<Index>& sequences, const std::vector<Index>& target) const;
};

}  // namespace bnpvi::chains
