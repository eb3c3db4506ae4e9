#include "dynamics/window_birth.h"

#include <algorithm>
#include <cmath>

namespace bnpvi::dynamics {

namespace {

constexpr Index shortest = 32, longest = 64;  // rows of a window, as are the numbers below from trials on
constexpr double share = 0.95;                // measured on the rotations of inst/bench/lds.R
constexpr Index own_rounds = 8, fewest_rounds = 5, most_rounds = 30;
constexpr double within = 40;  // nats below the present bound from which a proposal may still catch up

struct Window {
  Index group, from, to;
};

// Draws a sequence with probability proportional to its number of rows, and a window in it.
Window draw_window(const LdsProblem& problem, Stream& stream) {
  const Series& s = problem.series;
  Vec rows;
  for (Index g : problem.units) rows.push_back(static_cast<double>(s.starts[g + 1] - s.starts[g]));
  const Index g = problem.units[draw(rows, stream)];
  const Index n = s.starts[g + 1] - s.starts[g];
  const Index length = std::min(n, shortest + stream.index(longest - shortest + 1));
  const Index from = s.starts[g] + stream.index(n - length + 1);
  return {g, from, from + length};
}

// The emission of the mode that has most of the window's rows.
Index main_mode(const LdsState& state, const Window& at) {
  if (state.emission.size() == 1) return 0;
  Vec mass(static_cast<std::size_t>(state.k), 0.0);
  for (Index t = at.from; t < at.to; ++t)
    for (Index k = 0; k < state.k; ++k) mass[k] += state.r[t * state.k + k];
  return static_cast<Index>(std::max_element(mass.begin(), mass.end()) - mass.begin());
}

// Fits one mode and, where hidden states are observed with noise (identity) or each mode has its own
// emission, an emission to these rows alone. Learned loadings begin as those of the mode that has most of the
// window. name: that of the mode, where modes have names.
LatentPaths own_system(const LdsProblem& problem, const LdsState& state, const Window& at, int name) {
  const Series& all = problem.series;
  Series own;
  own.n = at.to - at.from;
  own.d = all.d;
  own.n_known = all.n_known;
  own.y.assign(all.y_of(at.from), all.y_of(at.to));
  own.known.assign(all.known_of(at.from), all.known_of(at.to));
  own.starts = {0, own.n};
  own.weight = {1};
  const EmissionPrior prior = problem.emission.of_mode(name);
  LatentPaths out(own, prior);
  const Index p = out.n_dynamics();
  Vec t(static_cast<std::size_t>(p), 0.0), w = point_weights(problem);
  const bool learned = problem.emission.identity || problem.emission.by_mode;
  std::vector<Emission> emission{problem.emission.identity ? Emission(prior, EmissionStatistics(prior))
                                                           : state.emission[main_mode(state, at)]};
  for (Index round = 0; round < own_rounds; ++round) {
    problem.pool.poll();
    if (round > 0) problem.dynamics().weights(t.data(), w.data());
    smooth_rows(
        own, 0, own.n, 0, {nullptr, 1, w.data()}, emission, problem.start, [] {}, out);
    for (Index i = 0; i < p; ++i) {
      t[i] = 0;
      for (Index row = 1; row < own.n; ++row) t[i] += out.features[(out.before + i) * own.n + row];
    }
    if (!learned) continue;
    EmissionStatistics seen(prior);
    add_emission(own, prior, out, 0, own.n, 1, seen);
    emission[0] = Emission(prior, seen);
  }
  return out;
}

// The state in which mode `made`, a new or an idle one, has most of the window.
LdsState with_mode(const LdsProblem& problem, const LdsState& state, const Window& at, Index made) {
  const int name = made < state.k ? state.total.names.of_cluster(made) : 0;
  const LatentPaths own = own_system(problem, state, at, name);
  LdsState out = state;
  LatentPaths& paths = out.paths;
  std::copy(own.mean.begin(), own.mean.end(), paths.mean.begin() + at.from * paths.m);
  std::copy(own.var.begin(), own.var.end(), paths.var.begin() + at.from * paths.n_var());
  const Index p = paths.n_features();
  for (Index i = 0; i < p; ++i)
    std::copy_n(own.features.begin() + i * own.n + 1, own.n - 1,
                paths.features.begin() + i * paths.n + at.from + 1);
  const Series& s = problem.series;
  paths.see_row(at.from, s.y_of(at.from), problem.emission);
  if (at.from > s.starts[at.group]) paths.set_features(at.from, s.known_of(at.from), nullptr);
  if (at.to < s.starts[at.group + 1]) paths.set_features(at.to, s.known_of(at.to), nullptr);
  const Index k = state.k, now = std::max(k, made + 1);
  out.k = now;
  out.r.assign(static_cast<std::size_t>(s.n * now), 0.0);
  for (Index t = 0; t < s.n; ++t) std::copy_n(state.r.begin() + t * k, k, out.r.begin() + t * now);
  for (Index t = std::max(at.from, problem.first_row(at.group)); t < at.to; ++t) {
    for (Index j = 0; j < now; ++j) out.r[t * now + j] *= 1 - share;
    out.r[t * now + made] += share;
  }
  return out;
}

}  // namespace

bool has_room(const LdsState& state) {
  if (state.alloc->fixed_k() == 0) return true;
  return state.total.size(state.total.by_size().back()) < idle_rows;
}

bool try_window_birth(const LdsProblem& problem, LdsState& state, Stream stream) {
  if (!has_room(state)) return false;
  const bool more = state.alloc->fixed_k() == 0;
  const Window at = draw_window(problem, stream);
  const bool alone = problem.units.size() == 1 && problem.series.n_groups() == 1;
  Summary rest;
  EmissionStatistics rest_seen(problem.emission);
  if (alone) {
    rest = Summary(state.alloc->shape(problem.obs), state.k);
    rest.names = state.total.names;
  } else {
    rest = state.total;
    rest.add(assign_one(problem, state, at.group, state.visited), -1);
    rest_seen = state.seen;
    rest_seen.add(emission_of_one(problem, state.paths, at.group), -1);
  }
  if (more) rest.append(1);
  LdsState tried = with_mode(problem, state, at, more ? state.k : state.total.by_size().back());
  const std::vector<Index> touched{at.group};
  const auto put_back = [&](const Summary& own) {
    tried.total = rest;
    tried.total.add(own);
    tried.seen = rest_seen;
    tried.seen.add(emission_of_one(problem, tried.paths, at.group), 1);
    renew(problem, tried);
  };
  put_back(independent_summary(problem, tried, at.group));
  for (Index round = 1; round <= most_rounds; ++round) {
    smooth(problem, tried, &touched);
    put_back(assign_one(problem, tried, at.group, tried.globals));
    if (round < fewest_rounds) continue;
    if (tried.elbo > state.elbo) break;
    if (!(tried.elbo > state.elbo - within)) return false;
  }
  if (!(tried.elbo > state.elbo)) return false;
  assign(problem, tried);
  tried.seen = emission_of(problem, tried.paths);
  renew(problem, tried);
  if (!(tried.elbo > state.elbo)) return false;
  accept(problem, state, std::move(tried));
  return true;
}

}  // namespace bnpvi::dynamics
