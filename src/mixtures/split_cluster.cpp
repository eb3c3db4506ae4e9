#include "mixtures/split_cluster.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "inference/moves/trial.h"
#include "mixtures/restricted_fit.h"

namespace bnpvi::mixtures {

namespace {

enum class Attempt { first, second };

// Up to this many clusters, the first try of a target searches the grids of a learned prior: a guess.
constexpr Index few_clusters = 12;

// The most numbers that are kept of the rows of a try, of which a lap may have a hundred: a guess.
constexpr Index most_kept = Index{1} << 15;

// How a learned prior is adapted to the newborns of a target in a try after `failures` failures.
std::optional<PriorSteps> steps_of_prior(Index k, Index failures) {
  if (k == 1) return PriorSteps::search;
  if (failures > 0) return std::nullopt;
  return k <= few_clusters ? PriorSteps::search : PriorSteps::ascent;
}

// The state in which the target's mass is redistributed as `how` says; new clusters come last.
State redistributed(const MoveContext& c, const State& state, Index target,
                    const std::vector<MassOnRows>& by_batch, const Split::Try& how) {
  const Problem& problem = c.problem;
  State out = state;
  const Index old_k = state.k(), born = how.division.k() - 1, p = state.total.shape.p;
  std::vector<Vec> shares;
  if (out.assignments) out.assignments->append(born);
  const bool known = !how.rows.empty() && !out.assignments;
  const std::vector<Redistributed> found =
      known ? how.rows : how.division.assign(c.pool, by_batch, out.assignments ? &shares : nullptr);
  for (std::size_t b = 0; b < by_batch.size(); ++b) {
    const Redistributed& moved = found[b];
    if (out.assignments)
      out.assignments->split(target, *problem.source.open(static_cast<Index>(b)), by_batch[b].rows,
                             by_batch[b].mass, shares[b]);
    auto s = std::make_shared<Summary>(*state.batch[b]);
    s->append(born, s->owner_of(target));
    if (by_batch[b].all && !s->settled)
      std::copy_n(moved.arrived.begin(), p, s->edit_t(target));
    else
      for (Index i = 0; i < p; ++i) s->edit_t(target)[i] += moved.arrived[i] - moved.left[i];
    std::copy_n(moved.arrived.begin() + p, born * p, s->edit_t(old_k));
    s->entropy() += moved.entropy;
    out.batch[b] = std::move(s);
  }
  out.total.k = old_k + born;
  out.total.names.append(born);
  resum(problem, out);
  refresh(problem, out);
  return out;
}

// The memory `known` with its clusters in the order of `now`. The only cluster that `known` lacks stands for
// `gone`.
MoveMemory in_order_of(const MoveMemory& now, const MoveMemory& known, std::uint64_t gone) {
  std::vector<Index> order;
  for (Index j = 0; j < now.size(); ++j) {
    const Index before = known.number_of(now.id(j));
    order.push_back(before < 0 ? known.number_of(gone) : before);
  }
  MoveMemory out = known;
  out.permute(order);
  return out;
}

// find_split(), with or without forecasts.
Split found(const MoveContext& c, const MixtureAlloc& alloc, const State& state, const MoveMemory& memory,
            Index target, const std::vector<MassOnRows>& by_batch, bool forecasts, Stream stream) {
  Split out;
  double mass = 0;
  for (const MassOnRows& where : by_batch) mass += where.total();
  if (mass < 2) return out;
  RestrictedFit fit(c.problem, alloc, c.pool, state, {target}, by_batch, stream);
  if (!forecasts) fit.ignore_forecasts();
  const std::optional<PriorSteps> steps = steps_of_prior(state.k(), memory.birth_failures(target));
  const bool keeps_k = alloc.fixed_k() > 0;
  for (const Attempt attempt : {Attempt::first, Attempt::second}) {
    if (attempt == Attempt::first)
      fit.develop(keeps_k ? 2 : c.options.birth_size, steps, stream);
    else if (!out.tries.empty() && !keeps_k)
      fit.develop(2, steps, stream);
    else
      fit.halve(steps, stream);
    if (fit.k() < 2) continue;
    Split::Try how{fit.division(), {}};
    if (static_cast<Index>(by_batch.size()) * fit.k() * state.total.shape.p <= most_kept)
      how.rows = how.division.assign(c.pool, by_batch);
    out.tries.push_back(std::move(how));
  }
  out.foreseen = fit.foresaw();
  return out;
}

std::optional<Proposal> better(const MoveContext& c, const State& state, const MoveMemory& memory,
                               Index target, const std::vector<MassOnRows>& by_batch, const Split& split) {
  std::optional<Proposal> best;
  for (const Split::Try& how : split.tries) {
    Proposal proposal{redistributed(c, state, target, by_batch, how), memory};
    proposal.memory.append(how.division.k() - 1);
    proposal.memory.birth_succeeded(target);
    if (c.options.reorder) reorder(c.problem, proposal.state, proposal.memory, false);
    if (!best || proposal.state.elbo > best->state.elbo) best = std::move(proposal);
  }
  return best;
}

}  // namespace

Split find_split(const MoveContext& c, const MixtureAlloc& alloc, const State& state,
                 const MoveMemory& memory, Index target, const std::vector<MassOnRows>& by_batch,
                 Stream stream) {
  return found(c, alloc, state, memory, target, by_batch, true, stream);
}

std::optional<Proposal> proposed(const MoveContext& c, const MixtureAlloc& alloc, const State& state,
                                 const MoveMemory& memory, Index target,
                                 const std::vector<MassOnRows>& by_batch, const Split& split,
                                 const Stream& stream) {
  auto best = better(c, state, memory, target, by_batch, split);
  if (split.foreseen && trial_listener && c.problem.observer.wants_spared_work()) {
    const auto other = better(c, state, memory, target, by_batch,
                              found(c, alloc, state, memory, target, by_batch, false, stream));
    const double elbo = best ? std::max(best->state.elbo, state.elbo) : state.elbo;
    tell({"forecast of a birth", {memory.id(target)}, 0, other ? other->state.elbo - elbo : NAN, false});
  }
  return best;
}

double join_and_split(const MoveContext& c, const MixtureAlloc& alloc, State& state, Target joined,
                      const Vec& entropy, std::uint64_t target, const std::vector<MassOnRows>& by_batch,
                      const Stream& stream) {
  std::sort(joined.begin(), joined.end());
  const std::uint64_t last = c.memory.id(joined.back());
  Changes changes;
  for (std::size_t i = joined.size(); i-- > 0;) {
    if (c.memory.id(joined[i]) == target) target = c.memory.id(joined[0]);
    if (i > 0) changes.merge(joined[0], joined[i]);
  }
  MoveMemory memory = c.memory;
  changes.apply(memory);
  const State after = with_joined(c.problem, state, changes, entropy);
  const Index number = memory.number_of(target);
  auto proposal = proposed(c, alloc, after, memory, number, by_batch,
                           find_split(c, alloc, after, memory, number, by_batch, stream), stream);
  const bool lifted = proposal && lifts(c.problem, proposal->state, c.to_beat(state), c.pool);
  tell({"resplit", c.memory.ids(joined), 0, proposal ? proposal->state.elbo - state.elbo : NAN, lifted});
  if (!lifted) return 0;
  const double gain = proposal->state.elbo - state.elbo;
  const bool same_pair =
      joined.size() == 2 && target == c.memory.id(joined[0]) && proposal->state.k() == state.k();
  state = std::move(proposal->state);
  c.memory = gain < worth_trying_again && same_pair ? in_order_of(proposal->memory, c.memory, last)
                                                    : std::move(proposal->memory);
  return gain;
}

}  // namespace bnpvi::mixtures
