#include "sound_lap.h"

#include <cmath>

#include "learn.h"
#include "rounded_sum.h"
#include "start.h"

namespace bnpvi {

bool SoundLap::excludes(const Problem& problem, const State& state) const {
  if (!std::isfinite(state.elbo)) return true;
  if (!kept_ || state.elbo >= kept_->elbo) return false;
  RoundedSum terms;
  for (const auto& term : elbo_terms(problem, state.total, state.globals)) terms.add(term.second);
  const double allowed = 1e-8 * terms.size() + (problem.alloc.remembers() ? 1 : 0);
  return kept_->elbo - state.elbo > allowed;
}

State SoundLap::restored(const Problem& problem, Pool& pool) const {
  State state = start_from_globals(problem, kept_->globals);
  for (std::size_t b = 0; b < problem.batches.size(); ++b)
    visit_batch(problem, state, static_cast<Index>(b), pool);
  state.total = kept_->globals.effective;
  state.elbo = kept_->elbo;
  return state;
}

}  // namespace bnpvi
