// Windows, short ranges of rows around those that a proposal changes, and rounds of local and global steps
// over them alone.
#pragma once
#include <functional>

#include "chains/messages/window_messages.h"
#include "chains/model/hmm.h"
#include "chains/model/snapshot.h"
#include "chains/moves/sequences.h"
#include "inference/moves/rounds.h"

namespace bnpvi::chains {

/// Windows around some rows of sequences whose last visit is described by a snapshot. Let (i, j) be the most
/// probable states of the rows just outside a window, and w their joint probability. A proposal replaces only
/// q(rows of the window | ends = (i, j)) and keeps everything else, including the window given other ends.
/// This is a valid q(z) if no two windows touch, and its statistics and entropy change by w times the change
/// of those conditional on (i, j).
class Windows {
 public:
  /// around: stretches of these sequences, as row numbers of the whole data set, ascending. Each window has a
  /// margin on both sides, and extends to where the row outside has an almost certain state, or to the end of
  /// the sequence.
  Windows(const Snapshot& now, const MoveContext& context, const HmmAlloc& alloc, const Sequences& sequences,
          const std::vector<Stretch>& around);

  /// False where windows have most of the rows of the sequences, so that visiting all rows costs little more,
  /// or where the snapshot lacks messages of a window.
  bool worthwhile() const { return worthwhile_; }
  double rows() const { return static_cast<double>(rows_); }

  /// Summary of the windows under the snapshot: for each, w times the statistics conditional on its ends.
  const Summary& before() const { return before_; }
  /// The same at other globals, where state j of the snapshot is state number[j]. Sets `sure` to false where
  /// messages may depend on a floor.
  Summary visit(const Globals& globals, const std::vector<Index>& number, bool& sure) const;

 private:
  struct Window {
    Stretch rows;
    Ends ends;         // as numbered in the snapshot
    double share = 0;  // w times the weight of the sequence
  };

  void place(const Snapshot& now, Index lag, const std::vector<Stretch>& around);
  double share_of(const Snapshot& now, const Window& window, double log_sum) const;
  // Summary of all windows at these globals. share(window, log_sum): the weight of a window in the summary,
  // given the log sum of its messages.
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

/// Rounds over windows. Their ELBO is that of a valid q(z), so that a pass over all rows of the sequences at
/// the resulting globals is at least as high. The exception are `changes` that join states: rows outside the
/// windows then have the joined states' mass under the new number only, without a new visit, and the ELBO is
/// a forecast.
class WindowRounds final : public Rounds {
 public:
  WindowRounds(const MoveContext& context, const State& state, Changes changes, const Windows& windows);

  /// False when the messages of a visit may depend on a floor: the results are then of no use.
  bool sure() const { return sure_; }

 private:
  void visit(const Globals& globals, Summary& total) override;

  const Windows& windows_;
  std::vector<Index> number_;  // new number of each state of the snapshot
  bool sure_ = true;
};

}  // namespace bnpvi::chains
