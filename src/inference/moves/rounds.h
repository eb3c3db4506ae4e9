// Repeated updates of q(z) on a part of the data, within a proposal of a move.
#pragma once
#include <limits>

#include "inference/moves/changes.h"
#include "inference/moves/move.h"

namespace bnpvi {

/// A proposal that changes q(z) of a part of the data. The part is taken out of a state, the clusters of the
/// remaining data are changed, and the part is added again by rounds. Each round updates q(z) of the part
/// (local step), and then the global parameters (global step). All other data keep their responsibilities and
/// are not visited. So the only possible changes are merges of clusters that these data do not use together,
/// drops of clusters that they do not use, new clusters, and another order. The state itself is not changed.
class Rounds {
 public:
  virtual ~Rounds() = default;

  /// Sets the global parameters for the first update of q(z); called once, before the first round.
  void begin_at(Globals first) { proposed_.globals = std::move(first); }

  /// Makes one round: updates q(z) of the part, then the global parameters. Returns the ELBO of the whole
  /// data.
  double round();

  /// Makes rounds until the ELBO is above that of `state`; then returns true. Returns false after max_rounds.
  /// Returns false earlier if the remaining rounds would not suffice even if each gained as much as the last;
  /// gains usually shrink. before: the ELBO before the first round, if it is known.
  bool rise(const State& state, Index max_rounds, double before = -std::numeric_limits<double>::infinity());

  /// Sets the gain of the ELBO, in addition to rounding, that the proposal must exceed to be accepted.
  void require_gain(double least) { least_gain_ = least; }

  Index rounds() const { return rounds_; }
  /// The proposal after the last round: the ELBO of the whole data, and the global parameters and the total
  /// summary (sums of statistics) of the data of problem(). It has no summaries of batches.
  const State& proposed() const { return proposed_; }
  /// The problem with which the rounds compute: the given one, or one with less data in which differences of
  /// ELBOs are the same.
  virtual const Problem& problem() const { return c_.problem; }

 protected:
  Rounds(const MoveContext& context, Changes changes) : c_(context), changes_(std::move(changes)) {}
  /// The same proposal after its last round, in another context, such as that of another thread.
  Rounds(const MoveContext& context, Rounds&& made);

  /// Updates q(z) of the part of the data with the changed clusters, and adds the part's summary (sums of
  /// statistics) to `total`. rounds() is the number of the present round.
  virtual void visit(const Globals& globals, Summary& total) = 0;

  /// The ELBO that a proposal must exceed to replace `state`.
  double to_beat(const State& state) const { return c_.to_beat(state) + least_gain_; }

  const MoveContext& c_;
  Changes changes_;
  Summary rest_;            // summary of the data without the part, after the changes; set by derived classes
  double elbo_beyond_ = 0;  // ELBO of the whole data minus that of problem()

 private:
  State proposed_;
  Index rounds_ = 0;
  double least_gain_ = 0;
};

}  // namespace bnpvi
