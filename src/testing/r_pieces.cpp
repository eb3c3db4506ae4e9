// Entries for tests: contents of a source and of the memory of failed groups, tasks until one succeeds, and
// fits of a model with statistics of pairs.
#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "foundation/variates.h"
#include "inference/moves/changes.h"
#include "inference/moves/failed_groups.h"
#include "inference/start/start.h"
#include "r_checkpoint.h"
#include "r_convert.h"
#include "r_learn.h"
#include "r_source.h"
#include "r_testing_entries.h"
#include "sampling/slice.h"
#include "testing/link_blocks.h"
#include "testing/scripted_fit.h"

using namespace bnpvi;

namespace {

// Rows of a view as a dense matrix, for dense and sparse data.
Rcpp::NumericMatrix rows_to_r(const Dataset& data) {
  Rcpp::NumericMatrix out(static_cast<int>(data.n), static_cast<int>(data.d));
  if (!data.sparse()) {
    std::copy_n(data.dense, data.n * data.d, out.begin());
    return out;
  }
  for (Index i = 0; i < data.n; ++i)
    for (int e = data.row_start[i]; e < data.row_start[i + 1]; ++e)
      out[data.column[e] * data.n + i] = data.value[e];
  return out;
}

Rcpp::IntegerVector from_one(const std::vector<Index>& numbers) {
  Rcpp::IntegerVector out(numbers.begin(), numbers.end());
  return out + 1;
}

// Dataset::back; empty if there are no trees.
std::vector<int> back_of(const Dataset& data) {
  return data.back ? std::vector<int>(data.back, data.back + data.n) : std::vector<int>();
}

Rcpp::List batch_to_r(const Batch& batch) {
  std::vector<Index> rows, groups;
  for (Index row = 0; row < batch.data.n; ++row) rows.push_back(batch.row_number(row));
  for (Index group = 0; group < batch.data.n_groups(); ++group) groups.push_back(batch.group_number(group));
  using Rcpp::_;
  return Rcpp::List::create(
      _["x"] = rows_to_r(batch.data), _["starts"] = batch.data.starts, _["sparse"] = batch.data.sparse(),
      _["rows_are_groups"] = batch.data.rows_are_groups, _["units"] = from_one(batch.units),
      _["rows"] = from_one(rows), _["groups"] = from_one(groups), _["back"] = back_of(batch.data));
}

Rcpp::List sample_to_r(const Sample& sample) {
  using Rcpp::_;
  return Rcpp::List::create(_["x"] = rows_to_r(sample.data), _["starts"] = sample.data.starts,
                            _["sparse"] = sample.data.sparse(), _["rows"] = from_one(sample.rows),
                            _["back"] = back_of(sample.data));
}

std::vector<Place> chosen(const std::vector<Place>& places, const Rcpp::IntegerVector& numbers) {
  std::vector<Place> out;
  for (int i : numbers) out.push_back(places.at(static_cast<std::size_t>(i - 1)));
  return out;
}

std::vector<std::vector<Index>> units_from_r(const Rcpp::List& units) {
  std::vector<std::vector<Index>> from_zero;
  for (SEXP batch : units) {
    const Rcpp::IntegerVector numbers(batch);
    from_zero.emplace_back();
    for (int unit : numbers) from_zero.back().push_back(unit - 1);
  }
  return from_zero;
}

GivenResponsibilities responsibilities_from_r(const Rcpp::NumericMatrix& resp) {
  return {resp.begin(), resp.nrow(), resp.ncol()};
}

// Changes from a list with elements merge = c(a, b), drop = j, append = m, permute = order; clusters from 1.
Changes changes_from_r(const Rcpp::List& list) {
  Changes out;
  if (!list.size()) return out;
  const Rcpp::CharacterVector kinds(Rf_getAttrib(list, R_NamesSymbol));
  for (R_xlen_t i = 0; i < list.size(); ++i) {
    const std::string kind(kinds[i]);
    const Rcpp::IntegerVector x(static_cast<SEXP>(list[i]));
    if (kind == "merge") out.merge(x[0] - 1, x[1] - 1);
    if (kind == "drop") out.drop(x[0] - 1);
    if (kind == "append") out.append(x[0]);
    if (kind == "permute") {
      std::vector<Index> order(x.begin(), x.end());
      for (Index& j : order) --j;
      out.permute(std::move(order));
    }
  }
  return out;
}

}  // namespace

namespace {

// n draws from a distribution (foundation/variates.h); for Dirichlet distributions n × weights. a and b are
// the arguments of the function; log_gamma, log_beta and log_dirichlet return logarithms. slice: one step of
// slice sampling of Gamma(a, rate 1), each from b times a draw from it.
Rcpp::NumericMatrix engine_variates(std::string which, Rcpp::NumericVector a, double b, int n, double seed) {
  Stream stream(static_cast<std::uint64_t>(seed), Purpose::test);
  const auto one = [&]() -> Vec {
    if (which == "normal") return {draw_normal(stream)};
    if (which == "log_gamma") return {draw_log_gamma(a[0], stream)};
    if (which == "gamma") return {draw_gamma(a[0], b, stream)};
    if (which == "slice") {
      const auto log_density = [&](double x) { return (a[0] - 1) * std::log(x) - x; };
      return {slice_step(b * draw_gamma(a[0], 1, stream), 1e-100, 1e100, log_density, stream)};
    }
    if (which == "binomial") return {static_cast<double>(draw_binomial(static_cast<Index>(a[0]), b, stream))};
    if (which == "log_beta") {
      const LogBeta x = draw_log_beta(a[0], b, stream);
      return {x.log_x, x.log_rest};
    }
    require(which == "log_dirichlet", "no such distribution: " + which);
    return draw_log_dirichlet(Rcpp::as<Vec>(a), stream);
  };
  const int width = which == "log_beta" ? 2 : which == "log_dirichlet" ? static_cast<int>(a.size()) : 1;
  Rcpp::NumericMatrix out(n, width);
  for (int i = 0; i < n; ++i) {
    const Vec x = one();
    for (int j = 0; j < width; ++j) out(i, j) = x[j];
  }
  return out;
}

// The shape of a source; its batches (units, and the numbers of their rows and groups among all); and copies
// of some modelled rows and some groups, given by their numbers among these. Numbers are from 1.
Rcpp::List engine_source(Rcpp::List data, std::string name, Rcpp::List units, bool grouped, int lag,
                         Rcpp::IntegerVector rows, Rcpp::IntegerVector groups) {
  const RData rdata(data);
  const auto source = make_source(name, rdata.view(), units_from_r(units), grouped, lag);
  Rcpp::List batches;
  for (Index b = 0; b < source->n_batches(); ++b) batches.push_back(batch_to_r(*source->open(b)));
  const DataShape shape = source->shape();
  const std::vector<Place> all_rows = places_of_rows(*source, grouped, lag);
  using Rcpp::_;
  Rcpp::List out =
      Rcpp::List::create(_["n"] = static_cast<int>(shape.n), _["d"] = static_cast<int>(shape.d),
                         _["n_groups"] = static_cast<int>(shape.n_groups), _["sparse"] = shape.sparse,
                         _["rows_are_groups"] = shape.rows_are_groups, _["starts"] = source->starts(),
                         _["batches"] = batches, _["n_rows"] = static_cast<int>(all_rows.size()),
                         _["taken_rows"] = sample_to_r(take_rows(*source, chosen(all_rows, rows), lag)));
  if (grouped)
    out.push_back(sample_to_r(take_groups(*source, chosen(places_of_groups(*source), groups))),
                  "taken_groups");
  out.push_back(static_cast<int>(most_open(*source)), "most_open");
  return out;
}

// FailedGroups with groups of clusters of size 10 (identities in a row), each of which failed once; in a
// copy, groups with `gone` are forgotten. Returns which groups, in reverse order, are worth another try:
// before, after, and before with one size changed to 12; and the number of groups kept before and after.
Rcpp::List engine_failed_groups(Rcpp::IntegerMatrix groups, int gone) {
  return entry([&] {
    FailedGroups all;
    const auto members = [&](int i) {
      std::vector<SizedCluster> out;
      for (int id : Rcpp::IntegerVector(groups.row(i))) out.push_back({static_cast<std::uint64_t>(id), 10});
      return out;
    };
    for (int i = 0; i < groups.nrow(); ++i) all.failed(members(i), 1);
    FailedGroups without = all;
    without.forget(static_cast<std::uint64_t>(gone));
    Rcpp::LogicalMatrix worth(groups.nrow(), 3);
    for (int i = 0; i < groups.nrow(); ++i) {
      std::vector<SizedCluster> group = members(i);
      std::reverse(group.begin(), group.end());
      worth(i, 0) = all.worth_trying(group, 1);
      worth(i, 1) = without.worth_trying(group, 1);
      group[0].size = 12;
      worth(i, 2) = all.worth_trying(group, 1);
    }
    return Rcpp::List::create(Rcpp::_["worth"] = worth,
                              Rcpp::_["kept"] = Rcpp::IntegerVector::create(all.size(), without.size()));
  });
}

// A fit of testing/link_blocks.h in which every group of the data is a link. control: batches (the groups of
// each, from 1), source, max_laps, tol, seed, merge; k seeds if resp is NULL; keep_lap and resume as in
// engine_fit().
Rcpp::List engine_link_blocks(Rcpp::List data, Rcpp::List obs, Rcpp::List control,
                              Rcpp::Nullable<Rcpp::NumericMatrix> resp) {
  return entry([&] {
    const RData rdata(data);
    const auto model = make_obs_model(ListFields(obs));
    const testing::LinkBlocks alloc;
    const ListFields c(control);
    RMonitor monitor{R_NilValue};
    RPool pool(1, monitor);
    const auto source =
        make_source(c.text("source"), rdata.view(), units_from_r(control["batches"]), true, 0);
    const Problem problem{*source, *model, alloc, static_cast<unsigned long long>(c.number("seed"))};
    LearnOptions options;
    options.max_laps = c.integer("max_laps");
    options.tol = c.number("tol");
    options.moves.merge = c.flag("merge");
    const auto start = [&] {
      if (resp.isNotNull())
        return start_from_responsibilities(problem, responsibilities_from_r(Rcpp::NumericMatrix(resp)), pool);
      return start_from_globals(problem, start_from_seeds(problem, c.integer("k"), true, 10, 1, pool));
    };
    Rcpp::List began_at;
    const auto from = [&](Progress p) {
      complete(problem, p);
      began_at = state_to_r(p.state.globals);
      return memoized_fit(problem, std::move(p), options, pool);
    };
    const Maker maker{[&](const Start&) {
                        return Learned{from(begin(problem, start())), {}};
                      },
                      [&](const Start&, Reader& in) { return from(Progress::read(in)); }};
    Checkpoints checkpoints(control);
    const Restarted run = drive_restarts(maker, options, pool, checkpoints, checkpoints.stored());
    const Course& course = run.best.course;
    const State& end = static_cast<const SharedFit&>(*run.best.fit).state();
    Vec elbo, k;
    for (const LapRecord& record : course.trace) {
      elbo.push_back(record.elbo);
      k.push_back(static_cast<double>(record.k));
    }
    using Rcpp::_;
    return Rcpp::List::create(_["state"] = state_to_r(end.globals), _["elbo"] = end.elbo,
                              _["terms"] = terms_to_r(elbo_terms(problem, end.total, end.globals)),
                              _["trace"] = elbo, _["k"] = k, _["reason"] = course.reason,
                              _["start"] = began_at, _["progress"] = Rcpp::RObject(checkpoints.kept()));
  });
}

// The summary of all groups under responsibilities, after some changes of the clusters, and after being
// written and read.
Rcpp::List engine_link_summary(Rcpp::List data, Rcpp::List obs, Rcpp::NumericMatrix resp,
                               Rcpp::List changes) {
  return entry([&] {
    const RData rdata(data);
    const auto model = make_obs_model(ListFields(obs));
    RMonitor monitor{R_NilValue};
    RPool pool(1, monitor);
    std::vector<Index> units(static_cast<std::size_t>(rdata.view().n_groups()));
    std::iota(units.begin(), units.end(), Index{0});
    Summary s = testing::LinkBlocks().summarise({rdata.view(), units, *model, {}, nullptr, pool},
                                                responsibilities_from_r(resp));
    changes_from_r(changes).apply(s);
    Writer out;
    s.write(out);
    Reader in(out.bytes().data(), out.bytes().size());
    return state_to_r({Summary::read(in), {}, {}});
  });
}

// first_success() of n tasks, of which some succeed. wait: how long each takes, in milliseconds. Numbers
// begin at 0. Returns the first success, and which tasks were called.
Rcpp::List engine_first_success(int n, int threads, Rcpp::LogicalVector succeeds, Rcpp::IntegerVector wait) {
  return entry([&] {
    LonePool lone(threads);
    std::vector<int> wins(succeeds.begin(), succeeds.end()), waits(wait.begin(), wait.end()), called(n, 0);
    const Index first = first_success(lone.pool, n, [&](Index i) {
      called[i] = 1;
      std::this_thread::sleep_for(std::chrono::milliseconds(waits[i]));
      return wins[i] != 0;
    });
    using Rcpp::_;
    return Rcpp::List::create(_["first"] = static_cast<double>(first), _["called"] = Rcpp::wrap(called));
  });
}

// Results of the driver for scripted fits (testing/scripted_fit.h), one for each restart: list(phases,
// value, whole, slack, work, k), with phases a list of list(kind, value), which have one element for each
// lap. control: as for a fit, with keep_lap and resume; alters: whether ends can be altered, then of what the
// scripts say, too.
Rcpp::List engine_driver(Rcpp::List scripts, Rcpp::List control) {
  return entry([&] {
    const ListFields c(control);
    RestartOptions options;
    read_run(c, options);
    RMonitor monitor{R_NilValue};
    RPool pool(1, monitor);
    const auto scripted = [&](const Start& start) {
      Index r = 0;
      while (restart_seed(options.seed, static_cast<std::uint64_t>(r)) != start.seed) ++r;
      require(r < scripts.size(), "there is a script for each start");
      const Rcpp::List script(VECTOR_ELT(scripts, static_cast<R_xlen_t>(r)));
      std::vector<std::vector<testing::ScriptedLap>> phases;
      const Rcpp::List planned(static_cast<SEXP>(script["phases"]));
      for (SEXP each : planned) {
        const Rcpp::List phase(each);
        const auto kind = Rcpp::as<std::vector<int>>(phase["kind"]);
        const auto value = Rcpp::as<Vec>(phase["value"]);
        phases.emplace_back();
        for (std::size_t i = 0; i < kind.size(); ++i)
          phases.back().push_back({static_cast<testing::ScriptedLap::Kind>(kind[i]), value[i]});
      }
      const ListFields fields(script);
      return std::make_unique<testing::ScriptedFit>(std::move(phases), fields.number("value"),
                                                    fields.flag("whole"), fields.number("slack"),
                                                    fields.number("work"), fields.integer("k"), pool);
    };
    Maker maker{[&](const Start& start) {
                  return Learned{scripted(start), {}};
                },
                [&](const Start& start, Reader& in) {
                  auto fit = scripted(start);
                  fit->read(in);
                  return fit;
                }};
    if (c.optional_flag("alters"))
      maker.alter = [&](const Start& start, const Fit&) { return maker.begin(start); };
    Checkpoints checkpoints(control);
    const Restarted run = drive_restarts(maker, options, pool, checkpoints, checkpoints.stored());
    const auto& fit = static_cast<const testing::ScriptedFit&>(*run.best.fit);
    Rcpp::List out = Rcpp::List::create(Rcpp::_["state"] = static_cast<int>(fit.lap_of_state()),
                                        Rcpp::_["objective"] = run.best.course.objective,
                                        Rcpp::_["best"] = static_cast<int>(run.best_restart) + 1,
                                        Rcpp::_["progress"] = Rcpp::RObject(checkpoints.kept()));
    add_run(run, c, out);
    return out;
  });
}

const testing::Entry entries[] = {
    {"engine_variates", {"which", "a", "b", "n", "seed"}, engine_variates},
    {"engine_source", {"data", "name", "units", "grouped", "lag", "rows", "groups"}, engine_source},
    {"engine_failed_groups", {"groups", "gone"}, engine_failed_groups},
    {"engine_link_blocks", {"data", "obs", "control", "resp"}, engine_link_blocks},
    {"engine_link_summary", {"data", "obs", "resp", "changes"}, engine_link_summary},
    {"engine_first_success", {"n", "threads", "succeeds", "wait"}, engine_first_success},
    {"engine_driver", {"scripts", "control"}, engine_driver},
};

}  // namespace
