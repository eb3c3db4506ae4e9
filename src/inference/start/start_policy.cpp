#include "inference/start/start_policy.h"

#include <algorithm>

#include "inference/start/known_clusters.h"
#include "inference/start/start.h"

namespace bnpvi {

namespace {

// How many clusterings are tried for the start of a fit of grouped rows with a fixed K, of which the best is
// used: as many as in stats::kmeans(nstart = 10), whose labels the fit should not fall behind.
constexpr Index tries_of_fixed_k = 10;

Globals globals_from(const std::string& init, const Problem& problem, Index k, Pool& pool) {
  if (init == "blocks") return start_from_blocks(problem, k);
  if (init == "anchor") return start_of_model(problem, k, pool);
  if (init == "scalable") return start_from_all_rows(problem, k, pool);
  const Index rounds = init == "random" ? 0 : init == "kmeans" ? 100 : 10;
  const bool spread = init != "random";
  const Index tries = spread && problem.alloc.grouped() && problem.alloc.fixed_k() > 0 ? tries_of_fixed_k : 1;
  return start_from_seeds(problem, k, spread, rounds, tries, pool);
}

// The clusters for names and labels are made in addition to the k clusters, unless K is fixed.
State start_from(const std::string& init, const Problem& problem, Index k, Pool& pool) {
  k = std::max(k, problem.alloc.fixed_k());
  if (problem.alloc.fixed_k() > 0) k = std::max<Index>(1, k - n_known_clusters(problem));
  return start_from_globals(problem,
                            with_known_clusters(problem, globals_from(init, problem, k, pool), pool));
}

// Fits for ten laps from the model's own start and from clusters of units, and returns the state with the
// higher ELBO. Of 30 pairs of fits with a fixed K, 29 were in the same order after sixty laps as after ten.
State start_by_race(const Problem& problem, Index k, LearnOptions options, Pool& pool) {
  options.max_laps = 10;
  options.moves = MoveOptions();
  options.learn_prior = options.keep_interrupted = false;
  State best;
  for (const char* init : {"anchor", "bregman"}) {
    problem.observer.restarted();
    const auto raced =
        memoized_fit(problem, begin(problem, start_from(init, problem, k, pool)), options, pool);
    Course course;
    drive(*raced, course, options, pool, [&](const LapRecord& lap) { pool.monitor().lap(lap); });
    if (course.reason == "numerical") continue;
    if (best.batch.empty() || raced->objective() > best.elbo) best = raced->state();
  }
  if (best.batch.empty()) return start_from("bregman", problem, k, pool);
  return best;
}

}  // namespace

State start_by(const std::string& init, const Problem& problem, Index k, const LearnOptions& options,
               Pool& pool) {
  return init == "best" ? start_by_race(problem, k, options, pool) : start_from(init, problem, k, pool);
}

}  // namespace bnpvi
