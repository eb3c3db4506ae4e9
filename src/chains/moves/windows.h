// Windows, short ranges of rows around those that a proposal changes, and rounds of updates of q(z) and of
// the parameters over these rows alone.
#pragma once
#include <functional>

#include "chains/messages/window_messages.h"
#include "chains/model/hmm.h"
#include "chains/model/snapshot.h"
#include "chains/moves/sequences.h"
#include "inference/moves/rounds.h"

namespace bnpvi::chains {

/// Windows: ranges of rows of sequences on which a proposal is tried alone. A snapshot (snapshot.h) has the
/// results of the last visit of these sequences. Let (i, j) be the most probable states of the rows just
/// outside a window, and w their joint probability. A proposal replaces only q(rows of the window | ends =
/// (i, j)), and keeps everything else, also q of the window given other states at its ends. This is a valid
/// q(z) if no two windows touch. Statistics and entropy change by w times their change given (i, j).
class Windows {
 public:
  /// around: the stretches of rows that a proposal changes, as row numbers of the whole data set, ascending.
  /// Each window has a margin on both sides. It extends to a row beside which the state is almost certain, or
  /// to the end of the sequence.
  Windows(const Snapshot& now, const MoveContext& context, const HmmAlloc& alloc, const Sequences& sequences,
          const std::vector<Stretch>& around);

  /// False if the windows have most of the rows of the sequences, so that visiting all rows costs little
  /// more, or if the snapshot (results of the last visits) lacks the messages of the rows at the ends of a
  /// window.
  bool worthwhile() const { return worthwhile_; }
  double rows() const { return static_cast<double>(rows_); }

  /// The summary (sums over rows) of all windows as the last visits (updates of q(z)) found them. Each
  /// window's statistics are conditional on the states i, j of the rows just outside it, and are multiplied
  /// by w, the probability of this pair of states.
  const Summary& before() const { return before_; }
  /// The summary of all windows, as in before(), after a visit (update of q(z)) at other globals (parameters'
  /// posterior). number: for each state of the snapshot (results of the last visits), its number in these
  /// globals. Sets `sure` to false where messages may depend on a floor of potentials.
  Summary visit(const Globals& globals, const std::vector<Index>& number, bool& sure) const;

 private:
  struct Window {
    Stretch rows;
    Ends ends;         // states next to the window, as in the snapshot
    double share = 0;  // probability w of `ends` times the weight of the sequence
  };

  void place(const Snapshot& now, Index lag, const std::vector<Stretch>& around);
  double share_of(const Snapshot& now, const Window& window, double log_sum) const;
  // The summary of all windows at these globals (posterior of the parameters). share(window, log_sum): the
  // factor for the statistics of a window, given the log sum of its messages. number: for each state of the
  // snapshot its number in the globals. sure: set to false if messages may depend on a floor.
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

/// Rounds of local and global steps (updates of q(z) and of the globals) over windows (ranges of rows) alone.
/// Their ELBO is that of a valid q(z), so a pass over all rows of the sequences at the resulting globals
/// reaches at least this ELBO. If `changes` join states, it is only a forecast: rows outside the windows then
/// have the mass of the joined states under the new number, without a new visit.
class WindowRounds final : public Rounds {
 public:
  WindowRounds(const MoveContext& context, const State& state, Changes changes, const Windows& windows);

  /// False if the messages of a visit (update of q(z)) may depend on a floor of potentials, so that the
  /// results are of no use.
  bool sure() const { return sure_; }

 private:
  void visit(const Globals& globals, Summary& total) override;

  const Windows& windows_;
  std::vector<Index> number_;  // for each state of the snapshot, its number in the proposal
  bool sure_ = true;
};

}  // namespace bnpvi::chains
