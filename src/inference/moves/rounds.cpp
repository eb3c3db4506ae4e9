#include "inference/moves/rounds.h"

namespace bnpvi {

Rounds::Rounds(const MoveContext& context, Rounds&& made)
    : c_(context),
      changes_(std::move(made.changes_)),
      rest_(std::move(made.rest_)),
      elbo_beyond_(made.elbo_beyond_),
      proposed_(std::move(made.proposed_)),
      rounds_(made.rounds_),
      least_gain_(made.least_gain_) {}

double Rounds::round() {
  proposed_.total = rest_;
  visit(proposed_.globals, proposed_.total);
  renew_globals(problem(), proposed_);
  proposed_.elbo = sum_terms(elbo_terms(problem(), proposed_.total, proposed_.globals)) + elbo_beyond_;
  ++rounds_;
  return proposed_.elbo;
}

bool Rounds::rise(const State& state, Index max_rounds, double before) {
  const double present = to_beat(state);
  for (Index left = max_rounds; left > 0; --left) {
    const double elbo = round();
    if (elbo > present) return true;
    if (present - elbo > (elbo - before) * static_cast<double>(left)) break;
    before = elbo;
  }
  return false;
}

}  // namespace bnpvi
