#include "inference/learn/long_steps.h"

#include <stdexcept>

#include "inference/learn/check_progress.h"
#include "inference/learn/visit_batches.h"
#include "inference/moves/move.h"

namespace bnpvi {

namespace {

// now + length × (now − before). A cluster that would lose half of its observations stays as it is.
Summary beyond(const Summary& before, const Summary& now, double length) {
  Summary out = now;
  for (Index j = 0; j < out.k; ++j) {
    if (length * (before.size(j) - now.size(j)) >= 0.5 * now.size(j)) continue;
    const double *from = before.t(j), *t = now.t(j);
    double* far = out.edit_t(j);
    for (Index f = 0; f < out.shape.p; ++f) far[f] = t[f] + length * (t[f] - from[f]);
  }
  return out;
}

}  // namespace

void LongSteps::take(const Problem& problem, State& state, const Summary& before, double gain, double end,
                     Visitor& visitor, Pool& pool) {
  if (!(gain > least * end && gain < much * end)) return;
  State far = state;
  try {
    far.globals = problem.alloc.global_step(beyond(before, state.total, length_), state.globals);
    visit_all_batches(problem, far, visitor, pool);
    refresh(problem, far);
  } catch (const std::domain_error&) {
    far.elbo = -std::numeric_limits<double>::infinity();
  }
  if (far.elbo > state.elbo + rounding_of(state.elbo)) {
    state = std::move(far);
    length_ = std::min(2 * length_, longest);
  } else {
    length_ = std::max(length_ / 4, shortest);
  }
}

void LongSteps::write(Writer& out) const {
  out.number(gained_);
  out.number(length_);
}

LongSteps LongSteps::read(Reader& in) {
  LongSteps out;
  out.gained_ = in.number();
  out.length_ = in.number();
  require_stored(shortest <= out.length_ && out.length_ <= longest, "length of steps");
  return out;
}

}  // namespace bnpvi
