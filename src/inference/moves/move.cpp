#include "inference/moves/move.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "inference/data/evidence.h"
#include "inference/learn/rename.h"
#include "inference/moves/last_open.h"
#include "inference/moves/near_order.h"
#include "inference/moves/neighbours.h"

namespace bnpvi {

double rounding_of(double elbo) { return 1e-10 * (1 + std::abs(elbo)); }

double MoveContext::to_beat(const State& state) const { return state.elbo + rounding_of(state.elbo); }

std::vector<std::uint64_t> birth_targets(const MoveContext& context, const State& state, int at_least) {
  const Summary& s = state.total;
  const MoveMemory& memory = context.memory;
  std::vector<Index> order;
  for (Index j = 0; j < s.k; ++j)
    if (s.size(j) >= 2 && memory.birth_worth_trying(j, s.size(j), at_least)) order.push_back(j);
  std::stable_sort(order.begin(), order.end(), [&](Index x, Index y) {
    const Index fx = memory.birth_failures(x), fy = memory.birth_failures(y);
    return fx < fy || (fx == fy && s.size(x) > s.size(y));
  });
  if (static_cast<Index>(order.size()) > context.options.max_births)
    order.resize(static_cast<std::size_t>(context.options.max_births));
  std::vector<std::uint64_t> ids;
  for (Index j : order) ids.push_back(memory.id(j));
  return ids;
}

Summary allocation_part(const Summary& s, Index patterns) {
  SummaryShape shape = s.shape;
  shape.p = 1 + patterns;
  Summary out(shape, s.k);
  Vec counts;
  for (Index j = 0; j < s.k; ++j) {
    counts.push_back(s.size(j));
    counts.insert(counts.end(), s.t(j) + s.shape.p - patterns, s.t(j) + s.shape.p);
  }
  out.obs = std::move(counts);
  out.extra = s.extra;
  out.pair = s.pair;
  out.scalar = s.scalar;
  return out;
}

Changes keeping_fixed_k(const AllocModel& alloc, Changes changes, Index m) {
  if (alloc.fixed_k() > 0) changes.append(m);
  return changes;
}

State with_joined(const Problem& problem, const State& state, const Changes& changes, const Vec& entropy) {
  State out = state;
  change_summaries(problem, out, [&](auto& s) { changes.apply(s); });
  for (std::size_t i = 0; i < out.batch.size(); ++i) {
    auto s = std::make_shared<Summary>(*out.batch[i]);
    s->entropy() += entropy[i];
    out.total.entropy() += entropy[i];
    out.batch[i] = std::move(s);
  }
  out.globals = {};
  refresh(problem, out);
  return out;
}

namespace {

// For each a the clusters b > a for which the pair (a, b) is evaluated.
std::vector<std::vector<Index>> near_pairs(const ObsModel& obs, const Summary& total, Pool& pool) {
  constexpr Index few = Index{1} << 7, near = Index{1} << 5;
  const Index k = total.k;
  std::vector<std::vector<Index>> partners(static_cast<std::size_t>(k));
  if (k <= few) {
    for (Index a = 0; a < k; ++a)
      for (Index b = a + 1; b < k; ++b) partners[a].push_back(b);
    return partners;
  }
  const Weights weights = make_weights(obs, total.obs.data(), k, nullptr, nullptr, true, total.names.of);
  const Neighbours nearest =
      nearest_clusters(total, weights, Vec(static_cast<std::size_t>(k), 0.0), near, pool);
  for (Index a = 0; a < k; ++a)
    std::for_each_n(nearest.of(a), near, [&](Index b) {
      if (a != b) partners[std::min(a, b)].push_back(std::max(a, b));
    });
  for (auto& list : partners) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return partners;
}

// Globals that are optimal for this order of the clusters, and the sum of the allocation model's terms with
// them. All other terms are the same for any order.
struct OrderTried {
  OrderTried(const AllocModel& alloc, const Summary& total, const std::vector<Index>& order,
             const Globals& near) {
    Summary sizes = allocation_part(total, alloc.patterns());
    sizes.permute(order);
    globals = alloc.global_step(sizes, near);
    value = sum_terms(alloc.elbo_terms(sizes, globals));
  }
  Globals globals;
  double value;
};

}  // namespace

Problem with_prior(const Problem& problem, const ObsModel& obs) {
  Problem out = problem;
  out.obs = obs;
  return out;
}

std::shared_ptr<const ObsModel> lifting_prior(const Problem& problem, const State& proposal, double present,
                                              Pool& pool) {
  constexpr Index few = 32;             // number of clusters: a guess
  constexpr double most_by_search = 5;  // gain, in nats, hoped for from the search after the ascent: a guess
  const LearnedPrior& prior = prior_of(problem.obs);
  if (!prior.has_occupied_term()) return nullptr;
  const bool close = present - proposal.elbo < 20 + 0.003 * std::abs(present);  // a guess
  if (!close && proposal.total.k > few) return nullptr;
  std::shared_ptr<const ObsModel> obs;
  for (const PriorSteps steps : {PriorSteps::ascent, PriorSteps::search}) {
    const LearnedPrior& from = obs ? prior_of(*obs) : prior;
    auto next = from.learned(proposal.total.obs.data(), proposal.total.k, steps, &pool);
    if (!next) return nullptr;
    obs = std::move(next);
    const double elbo = sum_terms(elbo_terms(with_prior(problem, *obs), proposal.total, proposal.globals));
    if (elbo > present) return obs;
    if (present - elbo > most_by_search) return nullptr;
  }
  return nullptr;
}

void let_prior_follow(const Problem& problem, State& state, Pool& pool) {
  const LearnedPrior& prior = prior_of(problem.obs);
  if (!prior.has_occupied_term()) return;
  auto obs = prior.learned(state.total.obs.data(), state.k(), PriorSteps::ascent, &pool);
  if (!obs) return;
  const double elbo = sum_terms(elbo_terms(with_prior(problem, *obs), state.total, state.globals));
  if (!(elbo > state.elbo)) return;
  problem.obs.replace(std::move(obs));
  state.elbo = elbo;
  state.globals.weights = nullptr;
}

bool lifts(const Problem& problem, State& proposal, double present, Pool& pool) {
  if (proposal.elbo > present) {
    let_prior_follow(problem, proposal, pool);
    return true;
  }
  auto obs = lifting_prior(problem, proposal, present, pool);
  if (!obs) return false;
  problem.obs.replace(std::move(obs));
  evaluate(problem, proposal);
  proposal.globals.weights = nullptr;
  return proposal.elbo > present;
}

Vec evidence_of_merging(const ObsModel& obs, const Summary& total, Pool& pool) {
  const Index k = total.k;
  const auto partners = near_pairs(obs, total, pool);
  Vec alone(static_cast<std::size_t>(k)), out(static_cast<std::size_t>(k * k), -INFINITY);
  for (Index j = 0; j < k; ++j) alone[j] = used_evidence(obs, total, j);
  pool.run(k, [&](Index a) {
    pool.poll();
    for (Index b : partners[a])
      if (total.may_join(a, b))
        out[a * k + b] = out[b * k + a] = evidence_of_pair(obs, total, a, b) - alone[a] - alone[b];
  });
  return out;
}

bool reorder(const Problem& problem, State& state, MoveMemory& memory, bool remove_empty) {
  bool any = false;
  const std::vector<Index> order = state.total.by_size();
  if (problem.alloc.ordered() && !std::is_sorted(order.begin(), order.end())) {
    OrderTried tried(problem.alloc, state.total, order, near_order(problem.alloc, state.globals, order));
    if (tried.value > sum_terms(problem.alloc.elbo_terms(state.total, state.globals))) {
      State proposed = state;
      change_summaries(problem, proposed, [&](auto& s) { s.permute(order); });
      rename(problem.obs, proposed.elbo, proposed.total);
      proposed.globals = std::move(tried.globals);
      proposed.globals.effective = proposed.total;
      evaluate(problem, proposed);
      if (proposed.elbo > state.elbo) {
        state = std::move(proposed);
        memory.permute(order);
        any = true;
      }
    }
  }
  if (!remove_empty || problem.alloc.fixed_k() > 0) return any;
  for (Index j = state.k() - 1; j >= 0 && state.k() > 1; --j) {
    if (state.total.size(j) > 0 || state.total.is_last_of_class(j) ||
        (is_last_open(state.total, j) && labels_are_open(problem)))
      continue;
    State proposed = state;
    change_summaries(problem, proposed, [j](auto& s) { s.drop(j); });
    proposed.globals = {};
    refresh(problem, proposed);
    if (proposed.elbo < state.elbo - rounding_of(state.elbo)) continue;
    state = std::move(proposed);
    memory.drop(j);
    any = true;
  }
  return any;
}

}  // namespace bnpvi
