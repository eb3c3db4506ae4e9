// Rounds of a local and a global step on a part of the data.
#pragma once
#include <limits>

#include "inference/moves/changes.h"
#include "inference/moves/move.h"

namespace bnpvi {

/// A part of the data is taken out of a state, the clusters of what is left change, and the part is brought
/// back by rounds of a local and a global step. All else keeps its responsibilities, so the changes must need
/// no look at it: merges of clusters that nothing else uses together, drops of clusters that nothing else
/// uses, new clusters, another order. The state itself stays as it is.
class Rounds {
 public:
  virtual ~Rounds() = default;

  /// Globals for the first visit; called once, before the first round.
  void begin_at(Globals first) { proposed_.globals = std::move(first); }

  /// A local step on the part and a global step. Returns the ELBO of the whole data.
  double round();

  /// Rounds until the ELBO is above that of `state`: true. False after max_rounds, or as soon as the gap is
  /// more than the rounds left would close if each gained as much as the last: gains shrink. before: the ELBO
  /// before the first of these rounds, where it is known.
  bool rise(const State& state, Index max_rounds, double before = -std::numeric_limits<double>::infinity());

  /// What rises by no more than this is not worth a change.
  void require_gain(double least) { least_gain_ = least; }

  Index rounds() const { return rounds_; }
  /// ELBO of the whole data, and under problem() globals and the summary, after the last round; without
  /// batches.
  const State& proposed() const { return proposed_; }
  /// What rounds go by: the problem, or one that is smaller and has the same differences of ELBOs.
  virtual const Problem& problem() const { return c_.problem; }

 protected:
  Rounds(const MoveContext& context, Changes changes) : c_(context), changes_(std::move(changes)) {}

  /// A local step on the part under the changed clusters, as round rounds(); adds its summary to `total`.
  virtual void visit(const Globals& globals, Summary& total) = 0;

  /// The ELBO that is to be exceeded.
  double to_beat(const State& state) const { return c_.to_beat(state) + least_gain_; }

  const MoveContext& c_;
  Changes changes_;
  Summary rest_;            // the whole data without the part, changed: derived classes set it
  double elbo_beyond_ = 0;  // what the ELBO of the whole data has beside that of problem()

 private:
  State proposed_;
  Index rounds_ = 0;
  double least_gain_ = 0;
};

}  // namespace bnpvi
