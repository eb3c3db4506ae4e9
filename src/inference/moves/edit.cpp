#include "inference/moves/edit.h"

#include <algorithm>

namespace bnpvi {

double Edit::round() {
  proposed_.total = rest_;
  visit(proposed_.globals, proposed_.total);
  renew_globals(c_.problem, proposed_);
  proposed_.elbo = sum_terms(elbo_terms(c_.problem, proposed_.total, proposed_.globals));
  ++rounds_;
  return proposed_.elbo;
}

Index occupied(const Summary& s) {
  const Vec sizes = s.sizes();
  return std::count_if(sizes.begin(), sizes.end(), [](double size) { return size >= 1; });
}

bool Edit::climb(State& state, Index max_rounds, double before) {
  const double present = c_.to_beat(state);
  for (Index left = max_rounds; left > 0; --left) {
    const double elbo = round();
    if (elbo > present) {
      if (!accept(c_.problem, state, present)) return false;
      let_prior_follow(c_.problem, state, c_.pool);
      return true;
    }
    if (state.elbo - elbo > (elbo - before) * static_cast<double>(left)) break;
    before = elbo;
  }
  return accept_under_learned_prior(state, present);
}

bool Edit::accept(const Problem& problem, State& state, double present) {
  if (occupied(proposed_.total) < least_occupied_) return false;
  State edited = state;
  put_back(edited);
  edited.globals = proposed_.globals;
  resum(problem, edited);
  refresh(problem, edited);
  if (edited.elbo <= present) return false;
  problem.observer.predicted(proposed_.elbo, edited, rounds_);
  state = std::move(edited);
  changes_.apply(c_.memory);
  return true;
}

bool Edit::accept_under_learned_prior(State& state, double present) {
  if (rounds_ == 0) return false;
  auto obs = lifting_prior(c_.problem, proposed_, present, c_.pool);
  if (!obs || !accept(with_prior(c_.problem, *obs), state, present)) return false;
  state.globals.weights = nullptr;
  c_.problem.obs.replace(std::move(obs));
  return true;
}

}  // namespace bnpvi
