// Rows of a state, or of several, divided among new states.
#pragma once
#include "chains/moves/chain_search.h"
#include "foundation/random.h"
#include "inference/moves/room.h"

namespace bnpvi::chains {

/// Moves that give rows of a target, one state or several (ascending), new states: by stretches of
/// consecutive rows, or in a block. Where K is fixed, other states make room in the same proposal; the states
/// of the target but the first go too, so that the newborns may be as many.
class HmmDivision : public HmmMove {
 public:
  HmmDivision(const MoveContext& context, const HmmAlloc& alloc) : HmmMove(context, alloc, true) {}

 protected:
  /// Those sequences with rows of the target, or a random choice of them with 2^16 rows or more in all; never
  /// none.
  Sequences sequences_of(const std::vector<Index>& target, Stream& stream) const;

  /// Runs of the target's rows in these sequences, in trees each with its root, cut into stretches of at most
  /// so many rows.
  std::vector<Stretch> stretches_of(const std::vector<Index>& target, const Sequences& sequences,
                                    Index longest) const;

  /// Proposes at most k states for these stretches. The first of them keeps the target's number and its mass
  /// in other sequences.
  bool divide(State& state, const std::vector<Index>& target, const Sequences& sequences,
              std::vector<Stretch> stretches, Index k, Stream& stream);

  /// Proposes one or two new states for a block of random length around a random row of state j, in trees a
  /// subtree, whatever states the rows of the block have (best_cut).
  bool divide_block(State& state, Index j, const Sequences& sequences, Stream& stream);

 private:
  // New states 0 .. born − 1 with statistics t, and the state of each stretch; `kept`, unless empty, replaces
  // the target's statistic.
  struct Newborn {
    Index born = 0;
    Vec t, kept;
    std::vector<Stretch> stretches;
    std::vector<Index> state;  // of each stretch; −1: the target's
    int owner = 0;             // of the new states (Summary::owner)
  };

  bool propose(State& state, const std::vector<Index>& target, const Sequences& sequences,
               const Newborn& birth);
  // The rows of the target, and of all states that rows of a block have, ascending.
  std::vector<Stretch> rows_to_change(const std::vector<Index>& target, const Sequences& sequences,
                                      const Newborn& birth) const;
  Summary start_of(const State& state, const std::vector<Index>& target, const Newborn& birth) const;
  // The owner of a new state for a block of rows of several states: a class that is allowed to all its
  // labelled rows, that of state j if it can be; 0 where no row has a label; none where no class is.
  std::optional<int> owner_of_block(const State& state, Index j, const Sequences& sequences,
                                    const Stretch& block) const;
  // Whether a row of a stretch that begins at `begin` depends on another row of it.
  bool hangs_together(Index begin, Index row) const;
  double mass_in(const std::vector<Index>& sequences, const std::vector<Index>& target) const;
};

}  // namespace bnpvi::chains
