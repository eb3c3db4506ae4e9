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

/// Base class of the moves of a hidden Markov model, which propose changes of its list of states. During a
/// lap (one pass over all batches) a move collects a snapshot (snapshot.h): the results of the last visit of
/// each sequence. Then it tries proposals one at a time. The sequences that a proposal changes go through
/// rounds, each a local step (update of q(z)) and a global step (update of the parameters' posterior). All
/// other sequences keep their state probabilities. A proposal is accepted as soon as the ELBO of all data
/// exceeds that of the present state. Then all sequences are visited at the new posterior of the parameters,
/// so that the next proposal starts from state probabilities that all belong to this posterior.
class HmmMove : public Move {
 public:
  /// windows: whether proposals may be tried first on windows, which are ranges of rows near those that the
  /// proposal changes (windows.h). The snapshot then also stores the forward and backward messages of rows,
  /// which windows need.
  HmmMove(const MoveContext& context, const HmmAlloc& alloc, bool windows = false);
  std::unique_ptr<Watch> watch(const State& state, Index b) override;
  void after_batch(Index b, Watch* seen) override;

  /// What the proposals of one target have found and cost that were evaluated ahead of their turn.
  struct Look {
    std::shared_ptr<UnitEdit> risen;  // the proposal that raises the ELBO; null: none of them does
    double reached = 0;               // reached() after the last of them
    double rows = 0;                  // rows_visited()
    double products = 0;              // work in the unit of Pool::spend()
  };
  /// A move that evaluates proposals of `like` ahead of their turn, on another thread. It shares the snapshot
  /// of `like` and accepts nothing. Its attempt() returns true for a proposal that may be accepted.
  HmmMove(const HmmMove& like, const MoveContext& context);
  /// What a move that was made for evaluating ahead has found since; only Look::products is missing.
  Look found() const { return {risen_, reached_, rows_visited_}; }
  /// True where evaluating ahead is possible and saves time: there are several threads, the data are in
  /// memory and few enough for a copy of rows for each thread, and no one observes each proposal.
  bool looks_ahead() const;
  /// The largest number of targets whose proposals are worth evaluating at a time.
  Index targets_ahead() const;
  /// Evaluates the proposals of n targets at the same time, each target on one thread of the pool.
  /// evaluate(i, context): makes the proposals of target i by a move with this context, and returns what that
  /// move has found. A result is empty if only the proposals themselves can tell what comes of them. The last
  /// result is that of the first target with a proposal that raises the ELBO, or of target n − 1.
  std::vector<std::optional<Look>> look_ahead(
      Index n, const std::function<std::optional<Look>(Index, const MoveContext&)>& evaluate) const;
  /// Does in a target's turn what its proposals would do, given what was found ahead at the present state:
  /// accepts the one that raises the ELBO, if any, and counts what they cost. propose(): makes the proposals;
  /// used where the look does not suffice. True if one was accepted.
  bool take(State& state, const std::optional<Look>& look, const std::function<bool()>& propose);

 protected:
  /// Tries one proposal. Returns true if it was accepted; `state` and the snapshot then hold the new fit.
  /// changes: what happens to the list of states, which is then ordered by size. start: statistics of all
  /// data after these changes, from which the parameters' posterior of the first round is computed. touched:
  /// the sequences to visit again, as numbers in the whole data set, ascending. rounds: at most so many
  /// updates of q(z). windows: ranges of rows, or null. If they are worthwhile, rounds over these rows alone
  /// come first, and the proposal is refused if the ELBO does not rise there.
  bool attempt(State& state, Changes changes, Summary start, const std::vector<Index>& touched, Index rounds,
               const Windows* windows = nullptr);
  /// Tries a proposal without windows (ranges of rows). The first round starts from the statistics of the
  /// present state, to which `changes` are applied.
  bool attempt(State& state, Changes changes, const std::vector<Index>& touched, Index rounds);

  /// Visits all sequences (updates of q(z)) until a visit raises the ELBO by little, so that proposals
  /// compete with a converged state. Then calls drop_idle(). Returns false if visits still raise the ELBO
  /// much after the maximal number of visits.
  bool visit_until_converged(State& state);

  /// Makes one proposal that drops all states with less than half an expected row. Does nothing if the number
  /// of states is fixed.
  void drop_idle(State& state);

  /// The sequences in which any of these states has expected rows: their numbers in the whole data set,
  /// ascending.
  std::vector<Index> touching(const std::vector<Index>& states) const;

  /// Mixes the expected transitions and first states in `start` with those of independent rows, which get a
  /// tenth of the weight. The reason: a transition without any count has only the prior weight α/K, so E log
  /// π is near −K/α, a loss that no single row can make up for. After hard counts, a local step (update of
  /// q(z)) could therefore never use such a transition.
  void soften(Summary& start) const;

  /// All pairs of states that may be joined, in ascending order of the amount by which the join lowers the
  /// data term of the ELBO.
  std::vector<std::pair<Index, Index>> pairs_by_loss(const State& state) const;

  /// The terms of the ELBO of states and transitions, without the data term and the entropy of q(z).
  double allocation_value(const State& state) const;

  /// What the ELBO gains, apart from the entropy of q(z), if state b joins state a < b. data: the gain of the
  /// data term. present: allocation_value(state). The result is an upper bound of the gain of the whole ELBO
  /// before rows are visited again.
  double gain_of_joining(const State& state, Index a, Index b, double data, double present) const;

  /// The ELBO at the end of the last attempt, accepted or not.
  double reached() const { return reached_; }

  /// For tests: runs `proposal`, which calls attempt(), but accepts nothing and counts no row as visited.
  /// Returns the ELBO at the end of the attempt, or NaN if it ended before its rounds over all rows.
  double reached_without_accepting(const std::function<void()>& proposal);

  /// True if the snapshot (results of the last visits) has the forward and backward messages of rows, which
  /// windows (windows.h) need.
  bool has_windows() const { return !now_.messages.empty(); }

  /// True if the proposals of this lap (pass over all batches) have visited as many rows as they may. Further
  /// proposals then wait for a later lap.
  bool spent() const;

  /// Number of rows that the proposals of this lap have visited. A row that was visited twice counts twice.
  double rows_visited() const { return rows_visited_; }

  MoveContext c_;
  const HmmAlloc& alloc_;

 private:
  std::shared_ptr<Snapshot> snapshot_ = std::make_shared<Snapshot>();

 protected:
  Snapshot& now_ = *snapshot_;

 private:
  // Visits the sequences in parts[batch] of each batch again. Returns for each batch the sums over rows that
  // the visit (update of q(z)) found; empty for batches without such sequences.
  std::vector<Summary> seen(const State& state, const std::vector<EditedPart>& parts);
  void visit_all(State& state);
  // Accepts a proposal after its rounds, if it is one that raises the ELBO.
  bool settle(State& state, UnitEdit& edit, bool rises);
  // The posterior of the parameters from which rounds over all rows begin. Empty if rounds over the windows
  // (ranges of rows) show no prospect of a higher ELBO.
  std::optional<Globals> begin(const State& state, const Changes& changes, const Summary& start, Index rounds,
                               const Windows* windows);

  double rows_visited_ = 0, reached_ = 0;
  bool accepts_ = true;  // whether an attempt may replace the state
  // Of a move that evaluates ahead: the context of the move whose proposals it evaluates; null: of another
  // move.
  const MoveContext* const home_ = nullptr;
  std::shared_ptr<UnitEdit> risen_;  // the last proposal that raised the ELBO, in that context
};

}  // namespace bnpvi::chains
