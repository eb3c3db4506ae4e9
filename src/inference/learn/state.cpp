#include "inference/learn/state.h"

#include <algorithm>
#include <numeric>

#include "foundation/rounded_sum.h"
#include "inference/learn/coming_weights.h"
#include "inference/learn/rename.h"
#include "observations/named_clusters.h"

namespace bnpvi {

namespace {

// A cluster with at most this fraction of all mass has no observations; its mass is a rounding error.
constexpr double dust = 1e-12;

void add_occupied_terms(const LearnedPrior& prior, const Summary& total, const Globals& globals,
                        RoundedSum& sum) {
  const Vec sizes = total.sizes();
  const double least = dust * std::accumulate(sizes.begin(), sizes.end(), 0.0);
  for (Index j = 0; j < total.k; ++j) {
    const double* t = sizes[j] > least ? total.t(j) : globals.effective.t(j);
    if (t[0] > least) sum.add(prior.occupied_term(t));
  }
}

// evidence: the log evidence Λ of each cluster.
Terms with_data_term(const Problem& problem, const Vec& evidence, const Summary& total,
                     const Globals& globals) {
  const LearnedPrior& prior = prior_of(problem.obs);
  RoundedSum sum;
  sum.add(total.log_base);
  for (double value : evidence) sum.add(value);
  if (prior.has_occupied_term()) add_occupied_terms(prior, total, globals, sum);
  Terms terms{{"data", sum.term()}};
  for (auto& term : problem.alloc.elbo_terms(total, globals)) terms.push_back(std::move(term));
  const double density = prior.log_hyperprior() + concentrations_of(problem.alloc).log_hyperprior();
  if (density != 0) terms.emplace_back("hyperprior", density);
  return terms;
}

}  // namespace

const Summary* settled_part(const State& state) {
  const bool any = !state.batch.empty() && state.batch.back() && state.batch.back()->settled;
  return any ? state.batch.back().get() : nullptr;
}

bool has_settled(const State& state, Index j) {
  const Summary* earlier = settled_part(state);
  return earlier && earlier->size(j) > 0;
}

bool may_join(const State& state, Index a, Index b) {
  return (!has_settled(state, a) || !has_settled(state, b)) && state.total.may_join(a, b);
}

bool may_join(const State& state, const std::vector<Index>& clusters) {
  return std::count_if(clusters.begin(), clusters.end(), [&](Index j) { return has_settled(state, j); }) <
             2 &&
         state.total.names.at_most_one(clusters);
}

double batch_log_base(const Problem& problem, const Batch& batch) {
  const ObsModel& obs = problem.obs;
  if (!obs.capabilities().base) return 0;
  if (!problem.alloc.grouped()) return sum_log_base(obs, batch.data, batch.units, problem.pool);
  const Index lag = obs.capabilities().lag;
  std::vector<Index> rows;
  for (Index group : batch.units)
    for (Index i = batch.data.starts[group] + lag; i < batch.data.starts[group + 1]; ++i) rows.push_back(i);
  return sum_log_base(obs, batch.data, rows, problem.pool);
}

Terms elbo_terms(const Problem& problem, const Summary& total, const Globals& globals) {
  const Summary& effective = globals.effective;
  const Index p = total.shape.p;
  Vec value(static_cast<std::size_t>(total.k));
  for_each_part(problem.pool, total.k, [&](Index j) {
    const double *t = total.t(j), *e = effective.t(j);
    const ObsModel& obs = under_name(problem.obs, effective.names.of_cluster(j));
    value[j] = obs.log_evidence(e);
    if (t == e || std::equal(t, t + p, e)) return;
    Vec w(static_cast<std::size_t>(p));
    obs.weights(e, w.data());
    for (Index i = 0; i < p; ++i) value[j] += (t[i] - e[i]) * w[i];
  });
  return with_data_term(problem, value, total, globals);
}

double sum_terms(const Terms& terms) {
  double sum = 0;
  for (const auto& term : terms) sum += term.second;
  return sum;
}

void refresh(const Problem& problem, State& state) {
  renew_globals(problem, state);
  evaluate(problem, state);
}

void renew_globals(const Problem& problem, State& state) {
  rename(problem.obs, state.elbo, state.total);
  state.globals = problem.alloc.global_step(state.total, state.globals);
}

void evaluate(const Problem& problem, State& state) {
  state.elbo = sum_terms(elbo_terms(problem, state.total, state.globals));
  problem.observer.computed(problem, state);
}

void evaluate_and_weigh(const Problem& problem, State& state) {
  Vec data(static_cast<std::size_t>(state.k()));
  state.globals.weights = coming_weights(problem, state.globals.effective, data.data());
  state.elbo = sum_terms(with_data_term(problem, data, state.total, state.globals));
  problem.observer.computed(problem, state);
}

std::shared_ptr<const Weights> visiting_weights(const Problem& problem, const Summary& effective,
                                                double* evidence) {
  return visit_weights(problem.alloc, problem.obs, problem.source.shape(), effective, problem.pool, evidence);
}

void settle(const Problem& problem, State& state) {
  const Tangents* tangents = problem.alloc.capabilities().tangents;
  if (!tangents) return;
  const double before = sum_terms(problem.alloc.elbo_terms(state.total, state.globals));
  Vec extra(state.total.extra.size(), 0.0), scalar(state.total.scalar.size(), 0.0);
  bool any = false;
  for (auto& batch : state.batch) {
    if (!batch || !batch->memory) continue;
    if (!batch->settled) {
      const bool ours = batch.use_count() == 1;  // true: no other state shares the batch
      auto renewed = ours ? std::const_pointer_cast<Summary>(batch) : std::make_shared<Summary>(*batch);
      tangents->settle(*renewed, state.globals);
      batch = std::move(renewed);
      any = true;
    }
    for (std::size_t i = 0; i < extra.size(); ++i) extra[i] += batch->extra[i];
    for (std::size_t i = 0; i < scalar.size(); ++i) scalar[i] += batch->scalar[i];
  }
  if (!any) return;
  state.total.extra = state.globals.effective.extra = extra;
  state.total.scalar = state.globals.effective.scalar = scalar;
  state.elbo += sum_terms(problem.alloc.elbo_terms(state.total, state.globals)) - before;
  problem.observer.computed(problem, state);
}

void resum(const Problem& problem, State& state) {
  const ClusterNames names = state.total.names;
  std::vector<const Summary*> parts;
  for (const auto& b : state.batch)
    if (b) parts.push_back(b.get());
  if (parts.empty())
    state.total = Summary(state.total.shape, state.total.k);
  else
    state.total.set_to_sum(parts, problem.pool);
  state.total.names = names;
}

}  // namespace bnpvi
