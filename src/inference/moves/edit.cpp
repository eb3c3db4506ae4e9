#include "inference/moves/edit.h"

#include <algorithm>

namespace bnpvi {

Index occupied(const Summary& s) {
  const Vec sizes = s.sizes();
  return std::count_if(sizes.begin(), sizes.end(), [](double size) { return size >= 1; });
}

bool Edit::climb(State& state, Index max_rounds, double before) {
  return settle(state, rise(state, max_rounds, before));
}

bool Edit::settle(State& state, bool rises) {
  const double present = to_beat(state);
  if (!rises) return accept_under_learned_prior(state, present);
  if (!accept(c_.problem, state, present)) return false;
  let_prior_follow(c_.problem, state, c_.pool);
  return true;
}

bool Edit::accept(const Problem& problem, State& state, double present) {
  if (occupied(proposed().total) < least_occupied_) return false;
  State edited = state;
  put_back(edited);
  edited.globals = proposed().globals;
  edited.total.names = edited.globals.effective.names;
  resum(problem, edited);
  refresh(problem, edited);
  if (edited.elbo <= present) return false;
  problem.observer.predicted(proposed().elbo, edited, rounds());
  state = std::move(edited);
  changes_.apply(c_.memory);
  return true;
}

bool Edit::accept_under_learned_prior(State& state, double present) {
  if (rounds() == 0) return false;
  auto obs = lifting_prior(c_.problem, proposed(), present, c_.pool);
  if (!obs || !accept(with_prior(c_.problem, *obs), state, present)) return false;
  state.globals.weights = nullptr;
  c_.problem.obs.replace(std::move(obs));
  return true;
}

}  // namespace bnpvi
