#include "inference/learn/sound_lap.h"

#include "foundation/rounded_sum.h"
#include "inference/learn/learn.h"
#include "inference/learn/visit_batches.h"
#include "inference/start/start.h"

namespace bnpvi {

double SoundLap::slack(const Problem& problem, const State& state) const {
  RoundedSum terms;
  for (const auto& term : elbo_terms(problem, state.total, state.globals)) terms.add(term.second);
  return 1e-8 * terms.size() + (remembers(problem.alloc) ? 1 : 0);
}

bool SoundLap::is_above(const Problem& problem, const State& state) const {
  return kept_ && state.elbo < kept_->elbo && kept_->elbo - state.elbo > slack(problem, state);
}

State SoundLap::restored(const Problem& problem, Pool& pool) const {
  State state = start_from_globals(problem, kept_->globals);
  const std::unique_ptr<Visitor> visitor = problem.alloc.visitor();
  visit_all_batches(problem, state, *visitor, pool);
  state.total = kept_->globals.effective;
  state.elbo = kept_->elbo;
  return state;
}

}  // namespace bnpvi
