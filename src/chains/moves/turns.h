// Proposals for a list of targets that are made in order, and evaluated several at a time on several threads.
#pragma once
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "chains/moves/chain_search.h"

namespace bnpvi::chains {

/// Targets 0 .. n − 1 of a move M, one kind of proposals of hidden Markov models, which have their turns in
/// this order. As long as no proposal is accepted, what comes of them depends on the present state alone. So
/// on several threads the proposals of several targets are evaluated ahead of their turn, at the same time,
/// up to the first target with a proposal that raises the ELBO. Results are the same for any number of
/// threads.
///
/// has_turn(i): whether target i has a turn at the present state. If it is wrong, only time is lost.
/// propose(move, state, i): makes the proposals of target i by a move of kind M until one is accepted; true
/// if one was. It may depend on the target and the state alone, and changes nothing but `move` and `state`,
/// since it also runs on other threads, on copies of both.
template <class M, class HasTurn, class Propose>
class Turns {
 public:
  Turns(M& move, Index n, HasTurn has_turn, Propose propose)
      : move_(move), n_(n), has_turn_(std::move(has_turn)), propose_(std::move(propose)) {}

  /// Target i has its turn. True if a proposal was accepted.
  bool take(State& state, Index i) {
    if (!looks_.count(i)) look(state, i);
    const auto look = looks_.find(i);
    const bool accepted = move_.take(state, look == looks_.end() ? std::nullopt : look->second,
                                     [&] { return propose_(move_, state, i); });
    if (accepted) looks_.clear();
    return accepted;
  }

 private:
  void look(const State& state, Index first) {
    looks_.clear();
    if (!move_.looks_ahead()) return;
    std::vector<Index> targets;
    for (Index i = first; i < n_ && static_cast<Index>(targets.size()) < move_.targets_ahead(); ++i)
      if (has_turn_(i)) targets.push_back(i);
    if (targets.size() < 2) return;
    auto found = move_.look_ahead(static_cast<Index>(targets.size()),
                                  [&](Index at, const MoveContext& context) -> std::optional<HmmMove::Look> {
                                    M ahead(move_, context);
                                    State same = state;
                                    const bool may_rise = propose_(ahead, same, targets[at]);
                                    HmmMove::Look look = ahead.found();
                                    if (may_rise && !look.risen) return {};
                                    return look;
                                  });
    for (std::size_t at = 0; at < found.size(); ++at) looks_[targets[at]] = std::move(found[at]);
  }

  M& move_;
  const Index n_;
  const HasTurn has_turn_;
  const Propose propose_;
  std::map<Index, std::optional<HmmMove::Look>> looks_;  // of targets, at the present state
};

}  // namespace bnpvi::chains
