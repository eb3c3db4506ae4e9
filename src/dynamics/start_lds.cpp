#include "dynamics/start_lds.h"

#include <algorithm>
#include <cmath>

#include "foundation/random.h"
#include "inference/start/start.h"

namespace bnpvi::dynamics {

LdsState one_mode(const LdsProblem& problem, std::shared_ptr<const AllocModel> alloc, LatentPaths paths) {
  const Series& s = problem.series;
  const Index k = std::max<Index>(1, alloc->fixed_k());
  Vec r(static_cast<std::size_t>(s.n * k), 0.0);
  for (Index g = 0; g < s.n_groups(); ++g)
    for (Index t = problem.first_row(g); t < s.starts[g + 1]; ++t) r[t * k] = 1;
  return state_of(problem, std::move(alloc), std::move(paths), std::move(r), k);
}

namespace {

// The same problem with one emission for all modes, so that modes differ by their dynamics alone.
LdsProblem with_shared_emission(const LdsProblem& of) {
  EmissionPrior emission = of.emission.of_mode(0);
  emission.by_mode = false;
  LdsProblem out{of.series, of.dynamics(), emission, of.start, of.m,       of.log_unit, of.log_units,
                 {},        of.row_weight, of.seed,  of.pool,  of.observer};
  for (Index g = 0; g < of.series.n_groups(); ++g)
    if (of.series.starts[g + 1] > out.first_row(g)) out.units.push_back(g);
  return out;
}

// First rows of sequences get the responsibilities of the row after them; in sequences of one row, even ones.
void add_first_rows(const Series& s, Index k, Vec& r) {
  for (Index g = 0; g < s.n_groups(); ++g) {
    const Index n = s.starts[g + 1] - s.starts[g];
    double* first = r.data() + s.starts[g] * k;
    if (n > 1) std::copy_n(first + k, k, first);
    if (n == 1) std::fill_n(first, k, 1 / static_cast<double>(k));
  }
}

// A state with q(x) = `paths` and the q(z) of a hidden Markov model fitted, with its moves and from k states,
// to the means of `rows` as if these were known hidden states. ar: its observation model, of expected rows.
LdsState start_from_rows(const LdsProblem& problem, std::shared_ptr<const AllocModel> alloc,
                         const ObsModel& ar, const LatentPaths& rows, LatentPaths paths, Index k,
                         const LearnOptions& options) {
  const LdsProblem shared = with_shared_emission(problem);
  LdsState seen = one_mode(shared, alloc, paths_at(shared, rows.mean));
  const Dataset data = expected_rows(shared, seen);
  const MemorySource source(data, {shared.units});
  const Problem of_rows{source, ar, *alloc, problem.seed, nobody, &problem.pool};
  LearnOptions plain = options;
  plain.max_laps = 50;  // a guess
  plain.keep_interrupted = false;
  k = std::max(k, alloc->fixed_k());
  State start =
      start_from_globals(of_rows, start_from_seeds(of_rows, k, true, 10, k > 1 ? 10 : 1, problem.pool));
  const auto fit = memoized_fit(of_rows, begin(of_rows, std::move(start)), plain, problem.pool);
  Course course;
  drive(*fit, course, plain, problem.pool);
  if (fit->learned_alloc()) alloc = fit->learned_alloc();
  seen.alloc = alloc;
  seen.k = fit->state().k();
  seen.r.assign(static_cast<std::size_t>(problem.series.n * seen.k), 0.0);
  seen.globals = fit->state().globals;
  seen.globals.weights = visit_weights(*alloc, ar, data, seen.globals.effective, &problem.pool);
  assign(shared, seen);
  if (problem.by_mode()) add_first_rows(problem.series, seen.k, seen.r);
  return state_of(problem, std::move(alloc), std::move(paths), std::move(seen.r), seen.k);
}

}  // namespace

Learned begin_lds(const LdsProblem& problem, const LdsStart& start, const LearnOptions& options) {
  const auto begun = [&](LdsState at) {
    return Learned{std::make_unique<LdsFit>(problem, std::move(at), options), {}};
  };
  if (with_shared_emission(problem).units.empty() || start.way == LdsStart::Way::one)
    return begun(one_mode(problem, start.alloc, start.before));
  const auto from_rows = [&](const std::shared_ptr<const AllocModel>& alloc) {
    return start_from_rows(problem, alloc, start.ar, start.rows, start.before, start.k, options);
  };
  if (start.way == LdsStart::Way::rows) return begun(from_rows(start.alloc));

  const auto drive_it = [&](Learned& one, const LearnOptions& how) {
    drive(*one.fit, one.course, how, problem.pool,
          [&](const LapRecord& record) { problem.pool.monitor().lap(record); });
    return one.course.reason == "interrupted";
  };
  // Laps of searches do not count as laps of the fit, so that a longer fit continues a shorter one exactly.
  // Guesses.
  constexpr Index few_rows = 1000, first_laps = 20, search_laps = 100;
  const bool few = problem.series.n <= few_rows;
  LearnOptions first = options, rest = options;
  rest.max_laps = search_laps;
  first.max_laps = few ? search_laps : first_laps;
  Learned best = begun(from_rows(start.search));
  bool stopped = drive_it(best, first);
  for (std::uint64_t i = 1; i <= 3 && !stopped; ++i) {
    LdsProblem again = problem;
    again.seed = restart_seed(problem.seed, i);
    Learned one{std::make_unique<LdsFit>(again, one_mode(problem, start.search, start.before), options), {}};
    stopped = drive_it(one, first);
    if (!std::isfinite(best.course.objective) || one.course.objective > best.course.objective)
      best = std::move(one);
  }
  const auto found = [&]() -> const LdsState& { return static_cast<const LdsFit&>(*best.fit).state(); };
  if (!std::isfinite(best.course.objective)) return best;
  const bool same_bound = start.alloc->fixed_k() > 0;  // a model with fixed K has one bound only
  if (!few && !same_bound && !stopped) {
    best = begun(found());
    stopped = drive_it(best, rest);
  }
  LdsState end = found();
  const Index k = end.k;
  Learned out = begun(same_bound ? std::move(end)
                                 : state_of(problem, start.alloc, std::move(end.paths), std::move(end.r), k));
  if (!stopped) return out;
  LapRecord only;
  only.lap = 1;
  only.elbo = out.fit->objective();
  only.k = k;
  out.course.trace = {only};
  out.course.reason = "interrupted";
  out.course.objective = only.elbo;
  out.fit->keep();
  return out;
}

}  // namespace bnpvi::dynamics
