// Learning: how the parts are ascended.
#pragma once
#include <functional>
#include <string>

#include "foundation/pool.h"
#include "inference/progress.h"

namespace bnpvi {

/// Which moves to try and how hard; see bnp_moves() in R.
struct MoveOptions {
  bool birth = false, merge = false, remove = false, reorder = true;
  bool adopt = false;      // judge the births of a lap together, after one more lap
  Index max_births = 50;   // births tried a lap
  Index birth_size = 10;   // clusters a birth starts from
  Index max_deletes = 10;  // deletes tried a lap
  Index max_merges = 50;   // pairs whose joint entropy is tracked a lap
};

struct LearnOptions {
  Index max_laps = 100;
  double tol = 1e-6;  // gain of the ELBO per observation and lap below which a fit has converged
  MoveOptions moves;
  bool learn_prior = true;                         // where the observation model has something to learn
  double delay = 1, power = 0.6;                   // stochastic learning rate (delay + t)^−power
  bool keep_interrupted = false;                   // end with the last lap when asked to stop
  std::function<void(const Progress&)> after_lap;  // may be empty
};

struct Outcome {
  Progress progress;
  std::shared_ptr<const ObsModel> obs;  // with the prior learned; null when it is the problem's own
};

/// Memoized coordinate ascent with moves [Hughes 2016, Alg. 3.3, ch. 4]; with one batch, full-data
/// ascent [Alg. 3.1]. After the first lap the ELBO is the whole-data objective at every moment and
/// never falls. Where numbers break down nonetheless (see SoundLap), learning ends with the lap before; its
/// state may be read but not learned from, and has an ELBO that is not finite when there was no lap before.
/// So it is with keep_interrupted when asked to stop, with the reason "interrupted"; without it, and before
/// the end of the first lap, Interrupted is thrown.
Outcome learn_memoized(const Problem& problem, Progress from, const LearnOptions& options, Pool& pool);

/// Stochastic ascent [Alg. 3.2]; ends with one exact lap at the final globals, so that the ELBO
/// reported is the whole-data objective. Asked to stop with keep_interrupted, it does that lap at once.
Outcome learn_stochastic(const Problem& problem, Progress from, const LearnOptions& options, Pool& pool);

/// A fit that begins at a state.
Progress begin(const Problem& problem, State state);

/// Local step on batch b at the current globals; its new summary replaces the old one in the total.
/// Globals and ELBO are left as they were: call refresh().
void visit_batch(const Problem& problem, State& state, Index b, Visitor& visitor, Pool& pool,
                 ResponsibilitySink* sink = nullptr);

}  // namespace bnpvi
