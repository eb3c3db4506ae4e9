#include "state.h"

#include "audit.h"

namespace bnpvi {

Terms elbo_terms(const Problem& problem, const Summary& total, const Globals& globals) {
  const Summary& effective = globals.effective;
  const Index p = total.shape.p;
  double data = 0;
  Vec w(static_cast<std::size_t>(p));
  for (Index j = 0; j < total.k; ++j) {
    const double *t = total.t(j), *e = effective.t(j);
    data += problem.obs.log_evidence(e);
    bool same = true;
    for (Index i = 0; i < p && same; ++i) same = t[i] == e[i];
    if (same) continue;
    problem.obs.weights(e, w.data());
    for (Index i = 0; i < p; ++i) data += (t[i] - e[i]) * w[i];
  }
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
  state.globals = problem.alloc.global_step(state.total, state.globals);
  state.elbo = sum_terms(elbo_terms(problem, state.total, state.globals));
  if (problem.audit) problem.audit->check(problem, state);
}

void settle(const Problem& problem, State& state) {
  bool any = false;
  for (auto& batch : state.batch) {
    if (!batch) continue;
    auto settled = std::make_shared<Summary>(*batch);
    if (!problem.alloc.settle(*settled, state.globals)) continue;
    batch = std::move(settled);
    any = true;
  }
  if (!any) return;
  resum(state);
  state.globals.effective = state.total;
  state.elbo = sum_terms(elbo_terms(problem, state.total, state.globals));
}

void resum(State& state) {
  Summary total(state.total.shape, state.total.k);
  for (const auto& b : state.batch)
    if (b) total.add(*b);
  state.total = std::move(total);
}

}  // namespace bnpvi
