// Entries for filters, which continue from where earlier rows ended.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "chains/filters/particle_selection.h"
#include "chains/filters/state_filter.h"
#include "chains/filters/switching_filter.h"
#include "r_hmm.h"

using namespace bnpvi;
using namespace bnpvi::chains;

// Filter of a hidden Markov model under posterior means of the transitions and the posterior predictive of
// each state. The result has log p(x_t | x_1 .. t−1); `prob`, p(z_t = k | x_1 .. t−1) (n × K, with a last
// column for all states not in use if the model has such states); `filtered`, p(z_t = k | x_1 .. t); and
// `next`, for each group p(z = k) of the row after its last one (groups × K). `from`: such probabilities for
// the first rows, or NULL if sequences begin. `plugin`: use the point estimates of the states in use only.
// `known`: under the condition that the chain never leaves the states in use.
// [[Rcpp::export]]
Rcpp::List engine_filter_states(Rcpp::List data, Rcpp::List model, Rcpp::List state, SEXP from, bool plugin,
                                int threads, bool known = false) {
  return entry([&] {
    Query q(data, model, state, threads);
    const Chain chain = mean_chain(q, plugin || known);
    const Index k = chain.k, n = q.data().n, groups = q.data().n_groups();
    const ClusterDensities densities(q.obs(), q.globals.effective.obs, k,
                                     plugin ? DensityAt::point_estimate : DensityAt::posterior);
    const auto matrix = [&](Index rows) {
      return made_in_r([&] { return Rcpp::NumericMatrix(static_cast<int>(rows), static_cast<int>(k)); });
    };
    Rcpp::NumericVector log_density =
        made_in_r([&] { return Rcpp::NumericVector(static_cast<int>(n), NA_REAL); });
    Rcpp::NumericMatrix prob = matrix(n), filtered = matrix(n), next = matrix(groups);
    std::fill(prob.begin(), prob.end(), NA_REAL);
    std::fill(filtered.begin(), filtered.end(), NA_REAL);
    if (Rf_isNull(from)) {
      for (Index g = 0; g < groups; ++g)
        for (Index j = 0; j < k; ++j) next(g, j) = chain.start[j];
    } else {
      const Rcpp::NumericMatrix given(from);
      require(given.nrow() == groups && given.ncol() == k, "probabilities of first rows");
      std::copy(given.begin(), given.end(), next.begin());
    }
    double *density = log_density.begin(), *before = prob.begin(), *after = filtered.begin(),
           *last = next.begin();
    for_sequences(q.data(), q.obs().capabilities().lag, q.pool, [&](const SequenceRows& s, Index g) {
      Vec ahead(static_cast<std::size_t>(k));
      for (Index j = 0; j < k; ++j) ahead[j] = last[j * groups + g];
      filter_states(chain, densities, q.obs(), q.data(), s, ahead, [&](const StatesOfRow& of) {
        density[of.row] = of.log_density;
        for (Index j = 0; j < k; ++j) {
          before[j * n + of.row] = of.ahead[j];
          after[j * n + of.row] = of.now[j];
        }
      });
      for (Index j = 0; j < k; ++j) last[j * groups + g] = ahead[j];
    });
    return Rcpp::List::create(Rcpp::_["log_density"] = log_density, Rcpp::_["prob"] = prob,
                              Rcpp::_["filtered"] = filtered, Rcpp::_["next"] = next);
  });
}

namespace {

// A linear system from an R list, whose matrices are by rows.
LinearSystem system_from_r(const Rcpp::List& list) {
  const ListFields fields(list);
  LinearSystem s;
  const auto whole = [&](const char* name) { return static_cast<Index>(fields.number(name)); };
  s.k = whole("k");
  s.m = whole("m");
  s.d = whole("d");
  s.n_inputs = whole("n_inputs");
  s.by_mode = fields.flag("by_mode");
  require(s.k > 0 && s.m > 0 && s.d > 0 && s.n_inputs >= 0, "sizes of a linear system");
  const auto numbers = [&](const char* name, Index n) {
    Vec x = fields.numbers(name);
    require(static_cast<Index>(x.size()) == n, name);
    return x;
  };
  s.a = numbers("A", s.k * s.m * (s.m + 1));
  s.q = numbers("Q", s.k * s.m * s.m);
  s.f = numbers("F", s.k * s.m * s.n_inputs);
  const Index emissions = s.by_mode ? s.k : 1;
  s.c = numbers("C", emissions * s.d * (s.m + 1));
  s.r = numbers("R", emissions * s.d * s.d);
  s.g = numbers("G", emissions * s.d * s.n_inputs);
  s.start_mean = numbers("start_mean", s.m);
  s.start_var = numbers("start_var", s.m * s.m);
  s.start = numbers("start", s.k);
  s.transition = numbers("transition", s.k * s.k);
  return s;
}

SwitchingFilter filter_from_r(const Rcpp::List& systems, double most, bool collapse) {
  std::vector<LinearSystem> all;
  for (R_xlen_t i = 0; i < systems.size(); ++i) {
    all.push_back(system_from_r(Rcpp::as<Rcpp::List>(systems[i])));
    require(all[i].k == all[0].k && all[i].m == all[0].m && all[i].d == all[0].d &&
                all[i].n_inputs == all[0].n_inputs && all[i].by_mode == all[0].by_mode,
            "systems of several sizes");
  }
  require(!all.empty() && most >= 1, "systems and particles");
  return SwitchingFilter(std::move(all), static_cast<Index>(most), collapse);
}

Particles particles_from_r(SEXP list, const SwitchingFilter& filter) {
  Particles p;
  if (Rf_isNull(list)) return p;
  const Rcpp::List state(list);
  p.mode = Rcpp::as<std::vector<int>>(state["mode"]);
  p.system = Rcpp::as<std::vector<int>>(state["system"]);
  p.weight = Rcpp::as<Vec>(state["weight"]);
  p.mean = Rcpp::as<Vec>(state["mean"]);
  p.cov = Rcpp::as<Vec>(state["cov"]);
  const std::size_t n = p.mode.size(), m = static_cast<std::size_t>(filter.system().m);
  require(n > 0 && p.system.size() == n && p.weight.size() == n && p.mean.size() == n * m &&
              p.cov.size() == n * m * m,
          "particles");
  for (std::size_t i = 0; i < n; ++i)
    require(p.mode[i] >= -1 && p.mode[i] < filter.system().k && p.system[i] >= 0 &&
                p.system[i] < filter.n_systems(),
            "modes of particles");
  return p;
}

Rcpp::List particles_to_r(const Particles& p) {
  const int n = static_cast<int>(p.n()), m = n ? static_cast<int>(p.mean.size()) / n : 0;
  return Rcpp::List::create(Rcpp::_["mode"] = p.mode, Rcpp::_["system"] = p.system,
                            Rcpp::_["weight"] = p.weight,
                            Rcpp::_["mean"] = Rcpp::NumericMatrix(m, n, p.mean.begin()),
                            Rcpp::_["cov"] = Rcpp::NumericMatrix(m * m, n, p.cov.begin()));
}

const char* name_of(Trouble trouble) {
  switch (trouble) {
    case Trouble::no_density:
      return "no_density";
    case Trouble::without_noise:
      return "without_noise";
    case Trouble::overflow:
      return "overflow";
    default:
      return "";
  }
}

// An n × width matrix from vectors of rows; NA where a vector is empty. root: variances become standard
// deviations.
Rcpp::NumericMatrix rows_to_r(const std::vector<FilteredRow>& rows, Vec FilteredRow::*field, Index width,
                              bool root) {
  Rcpp::NumericMatrix out(static_cast<int>(rows.size()), static_cast<int>(width));
  std::fill(out.begin(), out.end(), NA_REAL);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Vec& x = rows[i].*field;
    for (std::size_t j = 0; j < x.size(); ++j) out(i, j) = root ? std::sqrt(x[j]) : x[j];
  }
  return out;
}

}  // namespace

// Filters further rows of some sequences under switching linear systems. y: D × n, NA where missing; inputs:
// q × n; starts: offsets of the sequences; number, clock: for each sequence its number in the random
// streams, and its number of earlier rows; particles: for each sequence those after the earlier rows, or
// NULL. Returns for each sequence a list with the results of its rows and the particles after the last one.
// `trouble` says what stopped the sequence, if anything did, and `row` the number of rows done, at the last
// of which it stopped.
// [[Rcpp::export]]
Rcpp::List engine_filter_switching(Rcpp::List systems, Rcpp::NumericMatrix y, Rcpp::NumericMatrix inputs,
                                   Rcpp::IntegerVector starts, Rcpp::NumericVector number,
                                   Rcpp::NumericVector clock, Rcpp::List particles, double most,
                                   bool collapse, double seed, int threads) {
  return entry([&] {
    const SwitchingFilter filter = filter_from_r(systems, most, collapse);
    const Index n = starts.size() - 1, d = filter.system().d, k = filter.system().k, m = filter.system().m;
    const Index q = filter.system().n_inputs;
    require(y.nrow() == d && inputs.nrow() == q && inputs.ncol() == y.ncol() && number.size() == n &&
                clock.size() == n && particles.size() == n && starts[n] == y.ncol(),
            "rows of a filter");
    RMonitor monitor{R_NilValue};
    RPool pool(threads, monitor);
    std::vector<Particles> state;
    for (Index g = 0; g < n; ++g) state.push_back(particles_from_r(particles[g], filter));
    std::vector<std::vector<FilteredRow>> found(static_cast<std::size_t>(n));
    const double *cells = y.begin(), *known = inputs.begin();
    const std::vector<int> from(starts.begin(), starts.end());
    const std::vector<double> numbers(number.begin(), number.end()), clocks(clock.begin(), clock.end());
    const auto run = [&](Index g, Pool* inner) {
      for (Index i = from[g]; i < from[g + 1]; ++i) {
        pool.poll();
        Stream stream(static_cast<std::uint64_t>(seed), Purpose::filter,
                      static_cast<std::uint64_t>(numbers[g]),
                      static_cast<std::uint64_t>(clocks[g]) + static_cast<std::uint64_t>(i - from[g]));
        found[g].push_back(filter.step(state[g], {cells + i * d, known + i * q}, stream.uniform(), inner));
        if (found[g].back().trouble != Trouble::none) return;
      }
    };
    if (n == 1)
      run(0, &pool);
    else
      pool.run(n, [&](Index g) { run(g, nullptr); });

    return made_in_r([&] {
      Rcpp::List out(n);
      for (Index g = 0; g < n; ++g) {
        const std::vector<FilteredRow>& rows = found[g];
        Rcpp::NumericVector log_density(rows.size()), size(rows.size());
        Rcpp::IntegerVector kept(rows.size());
        std::vector<int> origin;
        for (std::size_t i = 0; i < rows.size(); ++i) {
          log_density[i] = rows[i].log_density;
          size[i] = rows[i].size;
          kept[i] = static_cast<int>(rows[i].origin.size());
          origin.insert(origin.end(), rows[i].origin.begin(), rows[i].origin.end());
        }
        const Trouble trouble = rows.empty() ? Trouble::none : rows.back().trouble;
        out[g] = Rcpp::List::create(
            Rcpp::_["log_density"] = log_density, Rcpp::_["size"] = size,
            Rcpp::_["prob"] = rows_to_r(rows, &FilteredRow::prob, k, false),
            Rcpp::_["mean"] = rows_to_r(rows, &FilteredRow::mean, m, false),
            Rcpp::_["sd"] = rows_to_r(rows, &FilteredRow::variance, m, true),
            Rcpp::_["ahead_mean"] = rows_to_r(rows, &FilteredRow::ahead_mean, d, false),
            Rcpp::_["ahead_sd"] = rows_to_r(rows, &FilteredRow::ahead_variance, d, true),
            Rcpp::_["below"] = rows_to_r(rows, &FilteredRow::below, d, false), Rcpp::_["kept"] = kept,
            Rcpp::_["origin"] = origin, Rcpp::_["particles"] = particles_to_r(state[g]),
            Rcpp::_["trouble"] = name_of(trouble), Rcpp::_["row"] = static_cast<int>(rows.size()));
      }
      return out;
    });
  });
}

// The particles of one sequence after each of h further rows without data, as a list. inputs: q × h.
// [[Rcpp::export]]
Rcpp::List engine_particles_ahead(Rcpp::List systems, SEXP particles, Rcpp::NumericMatrix inputs,
                                  double number, double clock, double most, double seed) {
  return entry([&] {
    const SwitchingFilter filter = filter_from_r(systems, most, false);
    Particles state = particles_from_r(particles, filter);
    RMonitor monitor{R_NilValue};
    Pool pool(1, monitor);
    const Vec missing(static_cast<std::size_t>(filter.system().d), std::numeric_limits<double>::quiet_NaN());
    const int h = inputs.ncol(), q = inputs.nrow();
    require(q == filter.system().n_inputs, "inputs of rows ahead");
    const double* known = inputs.begin();
    Rcpp::List out(h);
    for (int i = 0; i < h; ++i) {
      pool.poll();
      Stream stream(static_cast<std::uint64_t>(seed), Purpose::filter, static_cast<std::uint64_t>(number),
                    static_cast<std::uint64_t>(clock) + static_cast<std::uint64_t>(i));
      const FilteredRow row = filter.step(state, {missing.data(), known + i * q}, stream.uniform(), nullptr);
      if (row.trouble != Trouble::none) return Rcpp::List::create(Rcpp::_["trouble"] = name_of(row.trouble));
      out[i] = particles_to_r(state);
    }
    return out;
  });
}

// A separate seed, below 2^31, for each r ≥ 1.
// [[Rcpp::export]]
double engine_restart_seed(double seed, double r) {
  return static_cast<double>(restart_seed(static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(r)));
}
