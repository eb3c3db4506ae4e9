// Windows, which are short ranges of rows around the rows that a proposal changes, and updates of q(z) and of
// the parameters over windows alone.
#pragma once
#include <functional>

#include "chains/messages/window_messages.h"
#include "chains/model/hmm.h"
#include "chains/model/snapshot.h"
#include "chains/moves/sequences.h"
#include "inference/moves/rounds.h"

namespace bnpvi::chains {

/// Windows: ranges of rows of some sequences. A proposal is tried on these rows alone before all rows are
/// visited. A snapshot (snapshot.h) has the results of the last visit of the sequences. Let i and j be the
/// most probable states of the two rows just outside a window, and w the joint probability of this pair. A
/// proposal replaces only q(rows of the window | i, j). Everything else stays, also q of the window given
/// other pairs of states. This is a valid q(z) if no two windows touch. The statistics and the entropy of all
/// rows then change by w times the change of the window's statistics and entropy given i and j.
class Windows {
 public:
  /// around: the stretches of rows that a proposal changes, as row numbers of the whole data set, ascending.
  /// A window has some further rows on both sides of such a stretch. It ends where the state of the next row
  /// is almost certain, or at the end of the sequence.
  Windows(const Snapshot& now, const MoveContext& context, const HmmAlloc& alloc, const Sequences& sequences,
          const std::vector<Stretch>& around);

  /// False if a visit of the windows alone is of no use. Either they have most of the rows of the sequences,
  /// so that visiting all rows costs little more; or the snapshot (results of the last visits) lacks the
  /// messages of the rows at the ends of a window.
  bool worthwhile() const { return worthwhile_; }
  double rows() const { return static_cast<double>(rows_); }

  /// The sums over the rows of all windows, as the last visits (updates of q(z)) found them. The statistics
  /// of each window are conditional on the states i, j of the two rows just outside it, and multiplied by w,
  /// the probability of this pair of states.
  const Summary& before() const { return before_; }
  /// The sums over the rows of all windows, as in before(), after an update of q(z) at these globals
  /// (posterior of the parameters). number: for each state of the snapshot (results of the last visits), its
  /// number in the globals. Sets `sure` to false if messages may depend on the floor to which small
  /// potentials are raised (messages.h).
  Summary visit(const Globals& globals, const std::vector<Index>& number, bool& sure) const;

 private:
  struct Window {
    Stretch rows;
    Ends ends;         // states of the rows just outside the window, as in the snapshot
    double share = 0;  // probability w of `ends`, times the weight of the sequence
  };

  void place(const Snapshot& now, Index lag, const std::vector<Stretch>& around);
  double share_of(const Snapshot& now, const Window& window, double log_sum) const;
  // The sums over the rows of all windows at these globals (posterior of the parameters). share(window,
  // log_sum): the factor by which the statistics of a window are multiplied, given the log sum of its
  // messages. number: for each state of the snapshot, its number in the globals. sure: set to false if
  // messages may depend on the floor to which small potentials are raised (messages.h).
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

/// Rounds of updates of q(z) and of the parameters' posterior over windows (ranges of rows) alone. The ELBO
/// they reach is that of a valid q(z). A pass over all rows of the sequences at the resulting posterior of
/// the parameters therefore reaches at least this ELBO. The exception is a proposal that joins states: rows
/// outside the windows then keep the expected rows of both states under the new number, without a new visit,
/// and the ELBO is only a forecast.
class WindowRounds final : public Rounds {
 public:
  WindowRounds(const MoveContext& context, const State& state, Changes changes, const Windows& windows);

  /// False if the messages of an update of q(z) may depend on the floor to which small potentials are raised
  /// (messages.h). The results are then of no use.
  bool sure() const { return sure_; }

 private:
  void visit(const Globals& globals, Summary& total) override;

  const Windows& windows_;
  std::vector<Index> number_;  // for each state of the snapshot, its number in the proposal
  bool sure_ = true;
};

}  // namespace bnpvi::chains
