// Proposals that are evaluated ahead on all threads, and committed in order.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "inference/moves/edit.h"

namespace bnpvi {

/// Proposals that are evaluated from one state, at most; after an accepted one 1, then twice as many each
/// time that none was. A constant (a guess), so that the answer depends on no number of threads.
constexpr Index proposals_of_window = 4;

/// An edit whose rounds are done. edit: null where there was nothing to try.
struct Evaluated {
  std::vector<std::uint64_t> members;  // identities of the clusters that it is about
  std::unique_ptr<Edit> edit = nullptr;
  bool rises = false;
  /// Another one was accepted since: that it does not rise stands, although it was found at the state before.
  bool late = false;

  /// Replaces the state, as Edit::climb() would have.
  bool accepted(State& state) { return edit && !late && edit->settle(state, rises); }
};

/// Evaluates n proposals, window by window, and commits each in turn. Behind one that was accepted what
/// rises, and what shares a cluster with it, is evaluated again at the state as it is then, so that every
/// accepted proposal raises the ELBO. evaluate(i) changes nothing and needs random numbers of its own, as it
/// runs on any thread, in any order (where other processes do the work, one after the other). commit(i,
/// proposal) is called in order, and returns whether it replaced the state.
void in_windows(const MoveContext& context, Index n, const std::function<Evaluated(Index)>& evaluate,
                const std::function<bool(Index, Evaluated&)>& commit);

}  // namespace bnpvi
