// Proposals of a move that are evaluated several at a time, in parallel, and accepted or refused in order.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "inference/moves/edit.h"

namespace bnpvi {

/// The largest size of a window: a set of proposals that are evaluated from the same state. If a proposal of
/// a window is accepted, the next window has size 1; otherwise its size doubles. The limit is a constant (a
/// guess), so that results do not depend on the number of threads.
constexpr Index proposals_of_window = 4;

/// A proposal whose rounds (updates of q(z) of its units) have been made. edit: null if there was nothing to
/// try.
struct Evaluated {
  std::vector<std::uint64_t> members;  // identities of the clusters that it concerns
  std::unique_ptr<Edit> edit = nullptr;
  bool rises = false;
  /// True if this proposal did not raise the ELBO, and an earlier proposal of its window, for other clusters,
  /// was accepted. It counts as a failure, although it was evaluated at the state before that.
  bool late = false;

  /// Replaces the state by the proposal if it is accepted, as Edit::climb() does; returns whether it was.
  bool accepted(State& state) { return edit && !late && edit->settle(state, rises); }
};

/// Evaluates n proposals, several at a time (a window), and then commits each in turn.
///
/// After one of a window is accepted, a later one is evaluated again at the new state, if it raised the ELBO
/// at the old state or concerns a cluster of an accepted proposal. So every accepted proposal raises the
/// ELBO.
///
/// evaluate(i) runs on any thread and in any order. It must not change anything, and needs random numbers of
/// its own. commit(i, proposal) is called in order, and returns whether it replaced the state.
void in_windows(const MoveContext& context, Index n, const std::function<Evaluated(Index)>& evaluate,
                const std::function<bool(Index, Evaluated&)>& commit);

}  // namespace bnpvi
