#include "dynamics/lds_state.h"

#include <algorithm>
#include <cmath>

#include "foundation/special.h"
#include "observations/linalg.h"

namespace bnpvi::dynamics {

namespace {

constexpr Index filters = 4;  // passes of a filter and a smoother, in products of a row with a mode: a guess

// Collects r of every row of the data from blocks of rows.
class KeepResponsibilities final : public ResponsibilitySink {
 public:
  KeepResponsibilities(Vec& r, Index k) : r_(r), k_(k) {}
  void begin(Index) override {}
  void visit(Index, const Index* rows, const Responsibilities& r, FeatureBlock&) override {
    for (Index i = 0; i < r.n; ++i) std::copy_n(r.value.begin() + i * k_, k_, r_.begin() + rows[i] * k_);
  }

 private:
  Vec& r_;
  Index k_;
};

Index length_of(const Series& s, Index g) { return s.starts[g + 1] - s.starts[g]; }

Summary visit(const LdsProblem& problem, LdsState& state, const std::vector<Index>& units,
              const Globals& at) {
  const Dataset data = expected_rows(problem, state);
  KeepResponsibilities sink(state.r, state.k);
  const auto weights =
      at.weights ? at.weights : visit_weights(*state.alloc, problem.obs, data, at.effective, &problem.pool);
  Summary out = state.alloc->local_step({data, units, problem.obs, at, weights, problem.pool, &sink});
  out.names = at.effective.names;
  return out;
}

// Modes whose noise is known, in their order.
ClusterNames first_names(const LdsProblem& problem, Index k) {
  ClusterNames out;
  if (problem.emission.known_by_mode.empty() || !problem.by_mode()) return out;
  for (Index j = 1; j <= k; ++j) out.of.push_back(static_cast<int>(j));
  return out;
}

}  // namespace

Dataset expected_rows(const LdsProblem& problem, const LdsState& state) {
  Dataset out;
  out.n = state.paths.n;
  out.d = state.paths.n_features();
  out.dense = state.paths.features.data();
  out.starts = problem.series.starts;
  out.weight = data_or_null(problem.row_weight);
  return out;
}

LatentPaths paths_at(const LdsProblem& problem, const Vec& mean) {
  const Series& s = problem.series;
  LatentPaths out(s, problem.emission);
  out.mean = mean;
  for (Index g = 0; g < s.n_groups(); ++g)
    for (Index t = s.starts[g]; t < s.starts[g + 1]; ++t) {
      out.see_row(t, s.y_of(t), problem.emission);
      if (t > s.starts[g]) out.set_features(t, s.known_of(t), nullptr);
    }
  return out;
}

// The weights of −½ (x − M ξ)'W(x − M ξ). The prior's weights already have −½ W for x, and W M for x and ξ;
// their block of ξ, which includes the uncertainty of M, is replaced by −½ M'W M.
Vec point_weights(const LdsProblem& problem) {
  const Index m = problem.m, e = m + problem.series.n_known;
  Vec t(static_cast<std::size_t>(problem.dynamics().n_features()), 0.0), w(t);
  problem.dynamics().weights(t.data(), w.data());
  double* at = w.data() + 1;
  Vec precision(static_cast<std::size_t>(m * m)), g(static_cast<std::size_t>(m));
  for (Index a = 0; a < m; ++a)
    for (Index b = 0; b <= a; ++b) precision[a * m + b] = -(a == b ? 2 : 1) * at[packed(e + a, e + b)];
  const Cholesky chol(precision.data(), m);
  std::vector<Vec> root;  // L⁻¹ W M, by column
  for (Index i = 0; i < e; ++i) {
    for (Index a = 0; a < m; ++a) g[a] = at[packed(e + a, i)];
    chol.solve_lower(g.data());
    root.push_back(g);
  }
  for (Index i = 0; i < e; ++i)
    for (Index j = 0; j <= i; ++j) {
      double sum = 0;
      for (Index a = 0; a < m; ++a) sum += root[i][a] * root[j][a];
      at[packed(i, j)] = -(i == j ? 0.5 : 1) * sum;
    }
  return w;
}

LatentPaths prior_paths(const LdsProblem& problem) {
  const Series& s = problem.series;
  LatentPaths out(s, problem.emission);
  const Vec w = point_weights(problem);
  const std::vector<Emission> emission{Emission(problem.emission, EmissionStatistics(problem.emission))};
  problem.pool.run(s.n_groups(), [&](Index g) {
    smooth_rows(
        s, s.starts[g], s.starts[g + 1], g, {nullptr, 1, w.data()}, emission, problem.start,
        [&] { problem.pool.poll(); }, out);
  });
  return out;
}

std::vector<Emission> emissions_at(const LdsProblem& problem, const EmissionStatistics& seen,
                                   const Summary& total) {
  if (!problem.by_mode()) return {Emission(problem.emission, seen)};
  std::vector<Emission> out;
  for (Index k = 0; k < total.k; ++k)
    out.emplace_back(problem.emission.of_mode(total.names.of_cluster(k)),
                     problem.by_mode()->of_emission(total.t(k)));
  return out;
}

void smooth(const LdsProblem& problem, LdsState& state, const std::vector<Index>* groups) {
  const Series& s = problem.series;
  const Index p = problem.dynamics().n_features();
  Vec w(static_cast<std::size_t>(state.k * p));
  for (Index k = 0; k < state.k; ++k)
    problem.dynamics().weights(problem.of_dynamics(state.globals.effective.t(k)), w.data() + k * p);
  const ModeWeights modes{state.r.data(), state.k, w.data()};
  const Index n = groups ? static_cast<Index>(groups->size()) : s.n_groups();
  problem.pool.run(n, [&](Index i) {
    const Index g = groups ? (*groups)[i] : i;
    problem.pool.poll();
    problem.pool.spend(static_cast<double>((s.starts[g + 1] - s.starts[g]) * (state.k + filters) * p));
    smooth_rows(
        s, s.starts[g], s.starts[g + 1], g, modes, state.emission, problem.start,
        [&] { problem.pool.poll(); }, state.paths);
  });
}

void assign(const LdsProblem& problem, LdsState& state) {
  state.visited = state.globals;
  if (!state.visited.weights)
    state.visited.weights = visit_weights(*state.alloc, problem.obs, expected_rows(problem, state),
                                          state.visited.effective, &problem.pool);
  state.total = visit(problem, state, problem.units, state.visited);
}

Summary assign_one(const LdsProblem& problem, LdsState& state, Index group, const Globals& at) {
  return visit(problem, state, {group}, at);
}

EmissionStatistics emission_of(const LdsProblem& problem, const LatentPaths& paths) {
  const Series& s = problem.series;
  if (problem.by_mode()) return EmissionStatistics(problem.emission);
  constexpr Index at_once = 4096;  // rows a task: a guess
  const Index n_parts = (s.n + at_once - 1) / at_once;
  std::vector<EmissionStatistics> part(static_cast<std::size_t>(n_parts),
                                       EmissionStatistics(problem.emission));
  problem.pool.run(n_parts, [&](Index i) {
    problem.pool.poll();
    for (Index row = i * at_once; row < std::min(s.n, (i + 1) * at_once); ++row)
      add_emission(s, problem.emission, paths, row, row + 1,
                   problem.row_weight.empty() ? 1 : problem.row_weight[row], part[i]);
  });
  EmissionStatistics out(problem.emission);
  for (const auto& one : part) out.add(one, 1);
  return out;
}

EmissionStatistics emission_of_one(const LdsProblem& problem, const LatentPaths& paths, Index group) {
  const Series& s = problem.series;
  EmissionStatistics out(problem.emission);
  if (problem.by_mode()) return out;
  add_emission(s, problem.emission, paths, s.starts[group], s.starts[group + 1], s.weight[group], out);
  return out;
}

Summary independent_summary(const LdsProblem& problem, const LdsState& state, Index group) {
  const Series& s = problem.series;
  const Index k = state.k, p = problem.obs.n_features(), n = state.paths.n;
  Summary out(state.alloc->shape(problem.obs), k);
  out.names = state.total.names;
  double* t_all = out.obs.edit().data();
  const double weight = s.weight[group];
  for (Index t = problem.first_row(group); t < s.starts[group + 1]; ++t) {
    const double *r = state.r.data() + t * k, *before = r - k;
    for (Index j = 0; j < k; ++j) {
      const double mass = weight * r[j];
      if (mass == 0) continue;
      for (Index i = 0; i < p; ++i) t_all[j * p + i] += mass * state.paths.features[i * n + t];
      out.entropy() -= weight * x_log_x(r[j]);
      if (t == problem.first_row(group))
        out.extra[j] += mass;
      else
        for (Index l = 0; l < k; ++l) out.pair[l * k + j] += mass * before[l];
    }
  }
  return out;
}

LdsState state_of(const LdsProblem& problem, std::shared_ptr<const AllocModel> alloc, LatentPaths paths,
                  Vec r, Index k) {
  const EmissionStatistics seen = emission_of(problem, paths);
  LdsState out{std::move(alloc), std::move(paths), k, std::move(r), seen, {}, {}, {}, {}, {}, 0};
  out.total = Summary(out.alloc->shape(problem.obs), k);
  out.total.names = first_names(problem, k);
  for (Index g : problem.units) out.total.add(independent_summary(problem, out, g));
  renew(problem, out);
  return out;
}

void evaluate(const LdsProblem& problem, LdsState& state) {
  const Dataset data = expected_rows(problem, state);
  const MemorySource source(data, {problem.units});
  const Problem modes{source, problem.obs, *state.alloc, problem.seed, nobody, &problem.pool};
  const Series& s = problem.series;
  double start = 0, entropy = 0, emission = 0;
  for (const Emission& one : state.emission) emission += one.value();
  for (Index g = 0; g < s.n_groups(); ++g) {
    start += s.weight[g] * (state.paths.start[g] - problem.log_unit);
    entropy +=
        s.weight[g] * (state.paths.entropy[g] + static_cast<double>(length_of(s, g)) * problem.log_unit);
  }
  const auto add_units = [&](const EmissionStatistics& seen) {
    for (Index j = 0; j < s.d; ++j) emission -= seen.count[j] * problem.log_units[j];
  };
  if (const ExpectedSystem* own = problem.by_mode())
    for (Index k = 0; k < state.k; ++k) add_units(own->of_emission(state.total.t(k)));
  else
    add_units(state.seen);
  state.terms.clear();
  for (auto& term : elbo_terms(modes, state.total, state.globals)) {
    if (term.first != "data") {
      state.terms.push_back(term);
      continue;
    }
    state.terms.emplace_back("dynamics", problem.by_mode() ? term.second - emission : term.second);
    state.terms.emplace_back("emission", emission);
    state.terms.emplace_back("start", start);
    state.terms.emplace_back("entropy_states", entropy);
  }
  state.elbo = sum_terms(state.terms);
}

void renew(const LdsProblem& problem, LdsState& state) {
  state.globals = state.alloc->global_step(state.total, state.globals);
  state.emission = emissions_at(problem, state.seen, state.total);
  evaluate(problem, state);
}

void accept(const LdsProblem& problem, LdsState& state, LdsState proposal) {
  problem.observer.replaced(state.elbo, proposal.elbo, [&] {
    LdsState anew = proposal;
    anew.globals = proposal.visited;
    assign(problem, anew);
    anew.seen = emission_of(problem, anew.paths);
    renew(problem, anew);
    return anew.elbo;
  });
  state = std::move(proposal);
}

void one_round(const LdsProblem& problem, LdsState& state) {
  smooth(problem, state, nullptr);
  assign(problem, state);
  state.seen = emission_of(problem, state.paths);
  renew(problem, state);
}

}  // namespace bnpvi::dynamics
