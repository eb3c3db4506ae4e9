#include "state.h"

#include <algorithm>
#include <numeric>

#include "audit.h"

namespace bnpvi {

Terms elbo_terms(const Problem& problem, const Summary& total, const Globals& globals) {
  const Summary& effective = globals.effective;
  const Index p = total.shape.p;
  Vec value(static_cast<std::size_t>(total.k));
  for_each_part(problem.pool, total.k, [&](Index j) {
    const double *t = total.t(j), *e = effective.t(j);
    value[j] = problem.obs.log_evidence(e);
    if (std::equal(t, t + p, e)) return;
    Vec w(static_cast<std::size_t>(p));
    problem.obs.weights(e, w.data());
    for (Index i = 0; i < p; ++i) value[j] += (t[i] - e[i]) * w[i];
  });
  const double data = std::accumulate(value.begin(), value.end(), 0.0);
  Terms terms{{"data", data}};
  for (auto& term : problem.alloc.elbo_terms(total, globals)) terms.push_back(std::move(term));
  return terms;
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
  state.globals = problem.alloc.global_step(state.total, state.globals);
}

void evaluate(const Problem& problem, State& state) {
  state.elbo = sum_terms(elbo_terms(problem, state.total, state.globals));
  if (problem.audit) problem.audit->check(problem, state);
}

void settle(const Problem& problem, State& state) {
  const double before = sum_terms(problem.alloc.elbo_terms(state.total, state.globals));
  Vec extra(state.total.extra.size(), 0.0);
  bool any = false;
  for (auto& batch : state.batch) {
    if (!batch || !batch->memory) continue;
    const bool ours = batch.use_count() == 1;  // no other state shares it
    auto settled = ours ? std::const_pointer_cast<Summary>(batch) : std::make_shared<Summary>(*batch);
    if (!problem.alloc.settle(*settled, state.globals)) return;
    for (std::size_t i = 0; i < extra.size(); ++i) extra[i] += settled->extra[i];
    batch = std::move(settled);
    any = true;
  }
  if (!any) return;
  state.total.extra = state.globals.effective.extra = extra;
  state.elbo += sum_terms(problem.alloc.elbo_terms(state.total, state.globals)) - before;
  if (problem.audit) problem.audit->check(problem, state);
}

void resum(State& state) {
  bool first = true;
  for (const auto& b : state.batch) {
    if (!b) continue;
    if (first)
      state.total = *b;
    else
      state.total.add(*b);
    first = false;
  }
  if (first) state.total = Summary(state.total.shape, state.total.k);
  state.total.memory = nullptr;
}

}  // namespace bnpvi
