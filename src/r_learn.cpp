#include "r_learn.h"

#include <cmath>

namespace bnpvi {

void read_run(const Fields& control, RestartOptions& options) {
  options.max_laps = control.integer("max_laps");
  options.tol = control.number("tol");
  options.seed = static_cast<std::uint64_t>(control.number("seed"));
  options.keep_interrupted = control.optional_flag("keep_interrupted");
  if (!control.has("kinds")) {
    if (control.has("restarts")) options.restarts = control.integer("restarts");
    return;
  }
  options.most_work = control.number("most_work");
  for (const auto& [init, kind] : control.lists("kinds"))
    options.kinds.push_back({kind->integer("least"), kind->integer("most")});
}

LearnOptions learn_options(const Rcpp::List& control) {
  const Rcpp::List list = control["moves"];
  const ListFields c(control), moves(list);
  LearnOptions o;
  read_run(c, o);
  const Vec rate = c.numbers("learning_rate");
  o.delay = rate.at(0);
  o.power = rate.at(1);
  o.moves.tol = o.tol;
  o.moves.birth = moves.flag("birth");
  o.moves.merge = moves.flag("merge");
  o.moves.remove = moves.flag("delete");
  o.moves.reorder = moves.flag("reorder");
  o.moves.adopt = list.containsElementNamed("adopt") && moves.flag("adopt");
  o.moves.max_births = moves.integer("max_births");
  o.moves.birth_size = moves.integer("birth_size");
  o.moves.max_deletes = moves.integer("max_deletes");
  o.moves.max_merges = moves.integer("max_merges");
  return o;
}

Rcpp::DataFrame trace_to_r(const std::vector<LapRecord>& trace) {
  const int n = static_cast<int>(trace.size());
  Rcpp::IntegerVector lap(n), k(n), births(n), merges(n), deletes(n), bt(n), mt(n), dt(n);
  Rcpp::NumericVector elbo(n), log_joint(n), seconds(n);
  for (int i = 0; i < n; ++i) {
    const LapRecord& r = trace[i];
    lap[i] = static_cast<int>(r.lap);
    elbo[i] = std::isnan(r.elbo) ? NA_REAL : r.elbo;
    log_joint[i] = std::isnan(r.log_joint) ? NA_REAL : r.log_joint;
    k[i] = static_cast<int>(r.k);
    births[i] = static_cast<int>(r.births);
    merges[i] = static_cast<int>(r.merges);
    deletes[i] = static_cast<int>(r.deletes);
    bt[i] = static_cast<int>(r.births_tried);
    mt[i] = static_cast<int>(r.merges_tried);
    dt[i] = static_cast<int>(r.deletes_tried);
    seconds[i] = r.seconds;
  }
  using Rcpp::_;
  Rcpp::DataFrame out =
      Rcpp::DataFrame::create(_["lap"] = lap, _["elbo"] = elbo, _["k"] = k, _["births"] = births,
                              _["merges"] = merges, _["deletes"] = deletes, _["births_tried"] = bt,
                              _["merges_tried"] = mt, _["deletes_tried"] = dt, _["seconds"] = seconds);
  if (Rcpp::is_false(Rcpp::all(Rcpp::is_na(log_joint)))) out.push_back(log_joint, "log_joint");
  return out;
}

AskedStart asked_start(const Fields& control, const Start& start) {
  if (!control.has("kinds")) return {control.text("init"), control.integer("k_init")};
  const auto kinds = control.lists("kinds");
  if (start.kind == static_cast<Index>(kinds.size())) return {"altered", 0};
  return {kinds[start.kind].first, start.k};
}

namespace {

// One row for each start. Without control$kinds all starts are of the kind that the control requests.
Rcpp::DataFrame restarts_to_r(const Restarted& run, const Fields& control) {
  const std::vector<StartEnd>& ends = run.ends;
  const int n = static_cast<int>(ends.size());
  Rcpp::IntegerVector number(n), k_init(n, NA_INTEGER), k(n), laps(n);
  Rcpp::NumericVector seed(n), elbo(n), work(n);
  Rcpp::CharacterVector init(n, NA_STRING);
  Rcpp::LogicalVector given_up(n), agrees(n);
  for (int i = 0; i < n; ++i) {
    const StartEnd& e = ends[i];
    number[i] = i + 1;
    seed[i] = static_cast<double>(e.start.seed);
    if (control.has("kinds")) {
      const AskedStart asked = asked_start(control, e.start);
      if (!asked.init.empty()) init[i] = asked.init;
      if (asked.k > 0) k_init[i] = static_cast<int>(asked.k);
    }
    elbo[i] = std::isnan(e.end.elbo) ? NA_REAL : e.end.elbo;
    k[i] = static_cast<int>(e.end.k);
    laps[i] = static_cast<int>(e.end.lap);
    work[i] = e.end.work;
    given_up[i] = e.given_up != 0;
    agrees[i] = run.agrees(e);
  }
  using Rcpp::_;
  return Rcpp::DataFrame::create(_["restart"] = number, _["seed"] = seed, _["init"] = init,
                                 _["k_init"] = k_init, _["elbo"] = elbo, _["k"] = k, _["laps"] = laps,
                                 _["work"] = work, _["given_up"] = given_up, _["agrees"] = agrees);
}

}  // namespace

void add_run(const Restarted& run, const Fields& control, Rcpp::List& out) {
  const Course& course = run.best.course;
  out.push_back(trace_to_r(course.trace), "trace");
  out.push_back(course.converged, "converged");
  out.push_back(course.reason, "reason");
  out.push_back(static_cast<int>(course.laps()), "laps");
  if (run.interrupted) out.push_back(true, "interrupted");
  if (course.reason == "numerical") out.push_back(record_to_r(course.taken_back), "taken_back");
  if (run.ends.size() < 2) return;
  out.push_back(restarts_to_r(run, control), "restarts");
}

}  // namespace bnpvi
