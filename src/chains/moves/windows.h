// Windows of rows that a proposal changes, and rounds over nothing but them.
#pragma once
#include <functional>

#include "chains/messages/window_messages.h"
#include "chains/model/hmm.h"
#include "chains/model/snapshot.h"
#include "chains/moves/sequences.h"
#include "inference/moves/rounds.h"

namespace bnpvi::chains {

/// Windows around some rows, in sequences as a snapshot has them. Let (i, j) be the most probable states of
/// the rows just outside a window, w their probability. A proposal replaces only q(rows of the window | ends
/// = (i, j)), and keeps all else, other ends included: that is a q(z) for any windows that do not touch, of
/// which statistics and entropy change by w times the difference of what is conditional on (i, j).
class Windows {
 public:
  /// around: rows of these sequences, by their numbers among all, ascending. Windows have a margin on both
  /// sides, and end beside rows whose states are as good as sure, or where the sequence ends.
  Windows(const Snapshot& now, const MoveContext& context, const HmmAlloc& alloc, const Sequences& sequences,
          const std::vector<Stretch>& around);

  /// False where a pass over all rows of the sequences costs little more, or where the snapshot does not have
  /// all messages of a window.
  bool worthwhile() const { return worthwhile_; }
  double rows() const { return static_cast<double>(rows_); }

  /// What the windows have under the snapshot: w times what is conditional on their ends.
  const Summary& before() const { return before_; }
  /// The same at other globals, where state j of the snapshot is number[j]. Not `sure` where messages may
  /// depend on a floor.
  Summary visit(const Globals& globals, const std::vector<Index>& number, bool& sure) const;

 private:
  struct Window {
    Stretch rows;
    Ends ends;         // states of the snapshot
    double share = 0;  // w times the weight of the sequence
  };

  void place(const Snapshot& now, Index lag, const std::vector<Stretch>& around);
  double share_of(const Snapshot& now, const Window& window, double log_sum) const;
  // What all windows have at these globals. share(window, log_sum): what a window counts for, given the log
  // sum of its messages.
  Summary pass(const Globals& globals, const std::vector<Index>& number, bool& sure,
               const std::function<double(Index, double)>& share) const;
  struct Part;  // some of the windows, for one thread
  void pass_part(Part& part, const std::function<double(Index, double)>& share) const;

  const MoveContext& c_;
  const HmmAlloc& alloc_;
  const Sequences& sequences_;
  std::vector<Window> windows_;
  Index rows_ = 0;
  bool worthwhile_ = true;
  Summary before_;
};

/// Rounds over windows: their ELBO is that of a q(z), so that a pass over all rows of the sequences at the
/// globals where it rose is not below it; but where `changes` join states, what rows outside have of these is
/// only renamed, and the ELBO a forecast.
class WindowRounds final : public Rounds {
 public:
  WindowRounds(const MoveContext& context, const State& state, Changes changes, const Windows& windows);

  /// False when a visit failed: nothing that was found is of use.
  bool sure() const { return sure_; }

 private:
  void visit(const Globals& globals, Summary& total) override;

  const Windows& windows_;
  std::vector<Index> number_;  // of the states of the snapshot
  bool sure_ = true;
};

}  // namespace bnpvi::chains
