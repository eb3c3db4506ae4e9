// Base class of the moves of hidden Markov models: how a proposal is tried.
#pragma once
#include <functional>
#include <optional>

#include "chains/model/hmm.h"
#include "chains/model/snapshot.h"
#include "chains/moves/windows.h"
#include "inference/moves/changes.h"
#include "inference/moves/unit_edit.h"

namespace bnpvi::chains {

/// A move of a hidden Markov model, which proposes changes of its states. During a lap (one pass over all
/// batches) it collects a snapshot: the results of the last visits (snapshot.h). Then it tries proposals one
/// at a time. The sequences that a proposal touches go through rounds of local and global steps; all others
/// keep their state probabilities. A proposal is accepted as soon as the ELBO of all data exceeds that of the
/// present state. Then all sequences are visited at the new globals (posterior of the parameters). So the
/// next proposal starts from state probabilities that all belong to the same globals.
class HmmMove : public Move {
 public:
  /// windows: whether proposals may be tried first on windows, ranges of rows near those that change
  /// (windows.h). The snapshot of the last visits then also stores the forward and backward messages that
  /// this needs.
  HmmMove(const MoveContext& context, const HmmAlloc& alloc, bool windows = false);
  std::unique_ptr<Watch> watch(const State& state, Index b) override;
  void after_batch(Index b, Watch* seen) override;

 protected:
  /// Tries a proposal. Makes `changes` of the states, orders them by size, and visits the touched sequences
  /// again (numbers in the whole data set, ascending). start: statistics of all data under the changes, for
  /// the first visit (update of q(z)). windows: ranges of rows; rounds over these come first, unless they are
  /// null or not worthwhile. If the ELBO does not rise there, the proposal is refused. Returns true if it was
  /// accepted; state, memory and snapshot are then new.
  bool attempt(State& state, Changes changes, Summary start, const std::vector<Index>& touched, Index rounds,
               const Windows* windows = nullptr);
  /// Tries a proposal without windows (ranges of rows), starting from the statistics of the present state
  /// under the changes of the list of states.
  bool attempt(State& state, Changes changes, const std::vector<Index>& touched, Index rounds);

  /// Visits all sequences until a visit (update of q(z)) gains little, so that proposals compete with a
  /// converged state; then drops states with less than half a row. Returns false if visits still gain much
  /// after the maximal number of visits.
  bool visit_until_converged(State& state);

  /// Proposes to drop all states with less than half an expected row at once, unless the number of states is
  /// fixed.
  void drop_idle(State& state);

  /// The numbers (in the whole data set, ascending) of the sequences in which any of these states has mass,
  /// that is, expected rows.
  std::vector<Index> touching(const std::vector<Index>& states) const;

  /// Replaces a tenth of the expected transitions and first states in `start` by those of independent rows.
  /// The reason: a transition without any count has only the prior weight α/K, and E log π near −K/α, which
  /// no single row can make up for. So a local step (update of q(z)) could not change transitions that come
  /// from hard counts.
  void soften(Summary& start) const;

  /// All pairs of states that may be joined, in ascending order of the loss of the ELBO's data term on
  /// joining.
  std::vector<std::pair<Index, Index>> pairs_by_loss(const State& state) const;

  /// Gain of the ELBO without its entropy if state b joins a < b. data: gain of the data term. The result is
  /// an upper bound of the gain of the whole ELBO before rows are visited again.
  double gain_of_joining(const State& state, Index a, Index b, double data) const;

  /// The ELBO at the end of the last attempt, accepted or not.
  double reached() const { return reached_; }

  /// For tests: runs `proposal`, which calls attempt(), but nothing is accepted, and no row counts as
  /// visited. Returns the ELBO at the end of the attempt; NaN if it ended before its rounds over all rows.
  double reached_without_accepting(const std::function<void()>& proposal);

  /// True if the snapshot (results of the last visits) has the forward and backward messages that windows of
  /// rows (windows.h) need.
  bool has_windows() const { return !now_.messages.empty(); }

  /// True if this lap's proposals have visited as many rows as they may: further proposals wait for a later
  /// lap (pass over all batches).
  bool spent() const;

  /// Rows that this lap's proposals have visited, each as often as it was visited.
  double rows_visited() const { return rows_visited_; }

  MoveContext c_;
  const HmmAlloc& alloc_;
  Snapshot now_;

 private:
  // For each batch, the summary (sums over rows) that the last visit (update of q(z)) found for the units in
  // parts[batch]; empty for batches without units.
  std::vector<Summary> seen(const State& state, const std::vector<EditedPart>& parts);
  void visit_all(State& state);
  // The globals (parameters' posterior) from which rounds over all rows begin; empty if rounds over the
  // windows (ranges of rows) show no prospect of a higher ELBO.
  std::optional<Globals> begin(const State& state, const Changes& changes, const Summary& start, Index rounds,
                               const Windows* windows);

  double rows_visited_ = 0, reached_ = 0;
  bool accepts_ = true;  // whether an attempt may replace the state
};

}  // namespace bnpvi::chains
