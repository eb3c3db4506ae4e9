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
/// on several threads the proposals of targets that are likely to fail are evaluated ahead of their turn, at
/// the same time. Results are the same for any number of threads.
///
/// will_fail(i, refused): whether target i has a turn at the present state, and its proposals are likely to
/// fail, when the last `refused` targets have failed. If it is wrong, only time is lost. propose(move, state,
/// i): makes the proposals of target i by a move of kind M until one is accepted; true if one was. It may
/// depend on the target and the state alone, and changes nothing but `move` and `state`, since it also runs
/// on other threads, on copies of both.
template <class M, class WillFail, class Propose>
class Turns {
 public:
  Turns(M& move, Index n, WillFail will_fail, Propose propose)
      : move_(move), n_(n), will_fail_(std::move(will_fail)), propose_(std::move(propose)) {}

  /// Target i has its turn. True if a proposal was accepted.
  bool take(State& state, Index i) {
    if (!looks_.count(i)) look(state, i);
    const auto look = looks_.find(i);
    const bool accepted = move_.take(state, look == looks_.end() ? std::nullopt : look->second,
                                     [&] { return propose_(move_, state, i); });
    refused_ = accepted ? 0 : refused_ + 1;
    if (accepted) looks_.clear();
    return accepted;
  }

 private:
  void look(const State& state, Index first) {
    looks_.clear();
    if (!move_.looks_ahead() || !will_fail_(first, refused_)) return;
    const Index most = move_.targets_ahead(refused_);
    std::vector<Index> targets;
    for (Index i = first; i < n_ && static_cast<Index>(targets.size()) < most; ++i)
      if (will_fail_(i, refused_)) targets.push_back(i);
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
    for (std::size_t at = 0; at < targets.size(); ++at) looks_[targets[at]] = std::move(found[at]);
  }

  M& move_;
  const Index n_;
  const WillFail will_fail_;
  const Propose propose_;
  std::map<Index, std::optional<HmmMove::Look>> looks_;  // of targets, at the present state
  Index refused_ = 0;                                    // targets that have failed since the last success
};

}  // namespace bnpvi::chains
