// Moves that divide the rows of one or several states among new states.
#pragma once
#include <limits>

#include "chains/moves/chain_search.h"
#include "foundation/random.h"
#include "inference/moves/room.h"

namespace bnpvi::chains {

/// No forecast is below this change of the log evidence.
constexpr double any_change = -std::numeric_limits<double>::infinity();

/// Base class of moves that give new states to rows of a target, which is one state or several (ascending
/// numbers). Rows are moved as stretches of consecutive rows, or as one block. All states of the target but
/// the first join the first. If the number of states is fixed, each new state needs a place: in the same
/// proposal another state is joined (two states of the target may be) or dropped.
class HmmDivision : public HmmMove {
 public:
  HmmDivision(const MoveContext& context, const HmmAlloc& alloc) : HmmMove(context, alloc, true) {}

 protected:
  /// Whether state j may be divided. Where K is fixed, this needs another state that can make room for the
  /// new one: an idle state, or two that can be joined.
  bool has_room(const State& state, Index j) const;

  /// Chooses the sequences to divide: all that have rows of the target states or, if these have more than
  /// 2^16 rows, a random choice with at least as many rows. At least one sequence.
  Sequences sequences_of(const std::vector<Index>& target, Stream& stream) const;

  /// Runs of consecutive rows of the target states in these sequences, cut into stretches of at most
  /// `longest` rows. In trees, the parent of every row of a run but the first is in the same run.
  std::vector<Stretch> stretches_of(const std::vector<Index>& target, const Sequences& sequences,
                                    Index longest) const;

  /// Proposes to divide these stretches of rows among at most k states. The first of these gets the number of
  /// the target state and its rows in other sequences. If the log evidence of the observations rises by less
  /// than `least` (nats), the proposal ends before any row is visited.
  bool divide(State& state, const std::vector<Index>& target, const Sequences& sequences,
              std::vector<Stretch> stretches, Index k, double least, Stream& stream);

  /// Proposes one or two new states for a block of random length (in trees a subtree) around a random row of
  /// state j, whichever states the rows of the block have now (best_cut()). `least` as for divide().
  bool divide_block(State& state, Index j, const Sequences& sequences, double least, Stream& stream);

 private:
  // A proposal of new states 0 .. born − 1, with statistics t, for some stretches of rows. kept: statistic of
  // the first target state at the first visit (update of q(z)) after the division; empty: the one that it has
  // now.
  struct Newborn {
    Index born = 0;
    Vec t, kept;
    std::vector<Stretch> stretches;
    std::vector<Index> state;  // new state of each stretch; −1: it stays in the target
    int owner = 0;             // class that the new states belong to (Summary::owner)
  };

  bool propose(State& state, const std::vector<Index>& target, const Sequences& sequences,
               const Newborn& birth);
  // False if the forecast of the proposal's gain is below `least` (nats). Tests can ask (through the fit's
  // observer) what such proposals would have gained; the answer is false all the same.
  bool promises(State& state, const std::vector<Index>& target, const Sequences& sequences,
                const Newborn& birth, double least);
  // Change of the log evidence of the observations if all rows of the proposal take their new states, each
  // row counted in the state that is its most probable one now.
  double forecast(const State& state, const std::vector<Index>& target, const Sequences& sequences,
                  const Newborn& birth) const;
  // Stretches of all rows that may change state, ascending: the rows of the target states, and the rows of
  // all states that the stretches of the proposal `birth` are in now.
  std::vector<Stretch> rows_to_change(const std::vector<Index>& target, const Sequences& sequences,
                                      const Newborn& birth) const;
  Summary start_of(const State& state, const std::vector<Index>& target, const Newborn& birth) const;
  // The class (owner) of a new state for this block of rows. It is one that all labels in the block allow, if
  // possible that of state j; 0 if no row has a label; nothing if no class is allowed by all labels.
  std::optional<int> owner_of_block(const State& state, Index j, const Sequences& sequences,
                                    const Stretch& block) const;
  // True if row `row` can belong to a stretch that begins at row `begin`: the stretch contains the row's
  // parent, or the row is its first.
  bool hangs_together(Index begin, Index row) const;
  double mass_in(const std::vector<Index>& sequences, const std::vector<Index>& target) const;
};

}  // namespace bnpvi::chains
