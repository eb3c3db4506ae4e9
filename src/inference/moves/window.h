// Proposals that are evaluated in advance, in parallel, and committed in order.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "inference/moves/edit.h"

namespace bnpvi {

/// The largest number of proposals evaluated from one state (a window). After a window with an accepted
/// proposal the next one has size 1; each window without one doubles the size again. A constant (a guess), so
/// that the result does not depend on the number of threads.
constexpr Index proposals_of_window = 4;

/// A proposal (an Edit) whose rounds have been made. edit: null where there was nothing to try.
struct Evaluated {
  std::vector<std::uint64_t> members;  // identities of the clusters that it concerns
  std::unique_ptr<Edit> edit = nullptr;
  bool rises = false;
  /// True: another proposal of the window was accepted before this one, which did not rise and concerns other
  /// clusters. Its failure stands, although it was found at the earlier state.
  bool late = false;

  /// Replaces the state if the proposal is accepted, as Edit::climb() would have done.
  bool accepted(State& state) { return edit && !late && edit->settle(state, rises); }
};

/// Evaluates n proposals, window by window, and commits each in turn. After an accepted proposal, later ones
/// of its window are evaluated again at the new state if they had raised the ELBO or concern a cluster of an
/// accepted one, so that every accepted proposal raises the ELBO. evaluate(i) must not change anything and
/// needs random numbers of its own, as it runs on any thread and in any order (one after the other where
/// other processes do the work). commit(i, proposal) is called in order, and returns whether it replaced the
/// state.
void in_windows(const MoveContext& context, Index n, const std::function<Evaluated(Index)>& evaluate,
                const std::function<bool(Index, Evaluated&)>& commit);

}  // namespace bnpvi
