// The learning algorithms: coordinate ascent with moves, and stochastic ascent.
#pragma once
#include <functional>
#include <string>

#include "foundation/pool.h"
#include "inference/progress.h"

namespace bnpvi {

/// Which moves to try and how hard; see bnp_moves() in R.
struct MoveOptions {
  bool birth = false, merge = false, remove = false, reorder = true;
  bool adopt = false;  // where there is such a move: accept the births of a lap provisionally and judge them
                       // together a lap later
  Index max_births = 50;   // births tried a lap
  Index birth_size = 10;   // clusters a birth starts from
  Index max_deletes = 10;  // deletes tried a lap
  Index max_merges = 50;   // pairs whose joint entropy is tracked a lap
};

struct LearnOptions {
  Index max_laps = 100;
  double tol = 1e-6;  // gain of the ELBO per observation and lap below which a fit has converged
  MoveOptions moves;
  bool learn_prior = true;                         // if a model can (ObsModel::learned, AllocModel::learned)
  double delay = 1, power = 0.6;                   // stochastic learning rate (delay + t)^−power
  bool keep_interrupted = false;                   // end with the last lap when asked to stop
  std::function<void(const Progress&)> after_lap;  // may be empty
};

struct Outcome {
  Progress progress;
  // With the priors learned; null where it is the problem's own.
  std::shared_ptr<const ObsModel> obs;
  std::shared_ptr<const AllocModel> alloc;
};

/// Memoized coordinate ascent with moves [Hughes 2016, Alg. 3.3, ch. 4]; with one batch, full-data
/// ascent [Alg. 3.1]. From the end of the first lap on the ELBO is that of all data and never falls. When
/// numbers break down all the same (SoundLap), learning ends with the state of the lap before, whose progress
/// can be read but not continued; without such a lap the ELBO that is returned is not finite.
/// The same with keep_interrupted when asked to stop, with the reason "interrupted"; without it, and before
/// the end of the first lap, Interrupted is thrown.
Outcome learn_memoized(const Problem& problem, Progress from, const LearnOptions& options, Pool& pool);

/// Stochastic ascent [Alg. 3.2]; ends with one exact lap at the final globals, so that the ELBO
/// reported is the whole-data objective. Asked to stop with keep_interrupted, it does that lap at once.
Outcome learn_stochastic(const Problem& problem, Progress from, const LearnOptions& options, Pool& pool);

/// Progress of a fit that has not begun, at the given state.
Progress begin(const Problem& problem, State state);

}  // namespace bnpvi
