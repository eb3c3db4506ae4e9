#include "dynamics/fewer_modes.h"

#include <algorithm>

namespace bnpvi::dynamics {

namespace {

constexpr Index fewest_rounds = 5,
                most_rounds = 15;  // as of births, and for as long as they gain enough: guesses

// Puts the proposal in place of the state if some rounds bring its bound above the state's.
bool catches_up(const LdsProblem& problem, LdsState& state, LdsState tried) {
  double before = tried.elbo;
  for (Index round = 1; round <= most_rounds; ++round) {
    one_round(problem, tried);
    const double gain = tried.elbo - before;
    before = tried.elbo;
    if (tried.elbo > state.elbo) {
      accept(problem, state, std::move(tried));
      return true;
    }
    const bool hopeless = tried.elbo + gain * static_cast<double>(most_rounds - round) < state.elbo;
    if (round >= fewest_rounds && hopeless) return false;
  }
  return false;
}

}  // namespace

std::vector<std::pair<Index, Index>> pairs_to_join(const LdsProblem& problem, const LdsState& state,
                                                   Index most) {
  struct Pair {
    double gain;
    Index a, b;
  };
  const Index p = problem.obs.n_features();
  Vec alone;
  for (Index k = 0; k < state.k; ++k) alone.push_back(problem.obs.log_evidence(state.total.t(k)));
  std::vector<Pair> all;
  const bool fixed = state.alloc->fixed_k() > 0;
  Vec t(static_cast<std::size_t>(p));
  for (Index a = 0; a < state.k; ++a)
    for (Index b = a + 1; b < state.k; ++b) {
      problem.pool.poll();
      if (fixed && std::min(state.total.size(a), state.total.size(b)) < idle_rows) continue;
      for (Index i = 0; i < p; ++i) t[i] = state.total.t(a)[i] + state.total.t(b)[i];
      all.push_back({problem.obs.log_evidence(t.data()) - alone[a] - alone[b], a, b});
    }
  std::stable_sort(all.begin(), all.end(), [](const Pair& x, const Pair& y) { return x.gain > y.gain; });
  std::vector<std::pair<Index, Index>> out;
  for (const Pair& pair : all)
    if (static_cast<Index>(out.size()) < most) out.emplace_back(pair.a, pair.b);
  return out;
}

bool try_join(const LdsProblem& problem, LdsState& state, Index a, Index b) {
  const Index k = state.k, kept = state.alloc->fixed_k() > 0 ? k : k - 1;
  LdsState tried = state;
  tried.k = kept;
  tried.r.assign(static_cast<std::size_t>(problem.series.n * kept), 0.0);
  const Index gone = b < k ? b : a;
  for (Index g : problem.units)
    for (Index t = problem.first_row(g); t < problem.series.starts[g + 1]; ++t) {
      const double* from = state.r.data() + t * k;
      double* to = tried.r.data() + t * kept;  // of fixed ones the last is idle
      for (Index j = 0, i = 0; j < k; ++j)
        if (j != gone) to[i++] = from[j];
      if (b < k) {
        to[a] += from[b];
        continue;
      }
      for (Index i = 0; i < k - 1; ++i) to[i] += from[gone] / static_cast<double>(k - 1);
    }
  tried.globals = Globals();
  tried.total = Summary(state.alloc->shape(problem.obs), kept);
  for (Index g : problem.units) tried.total.add(independent_summary(problem, tried, g));
  renew(problem, tried);
  return catches_up(problem, state, std::move(tried));
}

bool try_exchange(const LdsProblem& problem, LdsState& state, Index a, Index b) {
  LdsState tried = state;
  std::swap(tried.total.names.of[a], tried.total.names.of[b]);
  renew(problem, tried);
  return catches_up(problem, state, std::move(tried));
}

}  // namespace bnpvi::dynamics
