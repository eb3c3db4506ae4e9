// What the moves of hidden Markov models share: how a proposal is tried out.
#pragma once
#include <functional>
#include <optional>

#include "chains/model/hmm.h"
#include "chains/model/snapshot.h"
#include "chains/moves/windows.h"
#include "inference/moves/changes.h"
#include "inference/moves/unit_edit.h"

namespace bnpvi::chains {

/// A move that watches a lap, then tries proposals one at a time. The sequences that a proposal touches go
/// through rounds of local and global steps; all others keep their assignments. A proposal is accepted as
/// soon as the ELBO of the whole data exceeds that of the present state; then all sequences are visited at
/// the new globals, so that the next proposal meets a state of one piece.
class HmmMove : public Move {
 public:
  /// windows: proposals may be tried on windows, which need messages.
  HmmMove(const MoveContext& context, const HmmAlloc& alloc, bool windows = false);
  std::unique_ptr<Watch> watch(const State& state, Index b) override;
  void after_batch(Index b, Watch* seen) override;

 protected:
  /// An edit of the touched sequences (by number among all, ascending) under some changes of the states,
  /// which are then put in order of size. start: statistics of all data under the changes, for the first
  /// visit. True when it was accepted; state, memory and snapshot are then new. windows: unless null, and
  /// worthwhile, rounds over them come first, and what does not rise there is refused.
  bool attempt(State& state, Changes changes, Summary start, const std::vector<Index>& touched, Index rounds,
               const Windows* windows = nullptr);
  /// The same from the statistics of the state.
  bool attempt(State& state, Changes changes, const std::vector<Index>& touched, Index rounds);

  /// Visits all sequences until that gains little, so that proposals compete with a state in equilibrium;
  /// then drops states that explain nothing. False when visits still gain much after the most allowed.
  bool visit_until_converged(State& state);

  /// Proposes to drop all states of less than half a row at once, unless K is fixed.
  void drop_idle(State& state);

  /// Sequences, by number among all, in which any of some states has mass; ascending.
  std::vector<Index> touching(const std::vector<Index>& states) const;

  /// Replaces a tenth of the expected transitions, and of the first states, by those of independent rows. A
  /// transition that is never made has the count α/K and E log π near −K/α, which no row overcomes alone:
  /// from hard counts a local step could not change the transitions.
  void soften(Summary& start) const;

  /// All pairs of states, first those that lose least by the data term when they are joined.
  std::vector<std::pair<Index, Index>> pairs_by_loss(const State& state) const;

  /// Gain of the bound without its entropy if state b is joined to a < b; `data`: the part of the data term.
  /// At least the gain of the whole bound before rows move.
  double gain_of_joining(const State& state, Index a, Index b, double data) const;

  /// The ELBO that the last attempt ended at, accepted or not.
  double reached() const { return reached_; }

  /// True when the snapshot has what windows need.
  bool has_windows() const { return !now_.messages.empty(); }

  /// True when this lap's proposals have visited enough rows: the rest waits for a later lap.
  bool spent() const;

  MoveContext c_;
  const HmmAlloc& alloc_;
  Snapshot now_;

 private:
  // What batches' last visits found of some of their units; of batches without units nothing.
  std::vector<Summary> seen(const State& state, const std::vector<EditedPart>& parts);
  void visit_all(State& state);
  // The start of rounds over all rows, where rounds over windows say that they may rise; else nothing.
  std::optional<Globals> begin(const State& state, const Changes& changes, const Summary& start, Index rounds,
                               const Windows* windows);

  double rows_visited_ = 0, reached_ = 0;
};

}  // namespace bnpvi::chains
