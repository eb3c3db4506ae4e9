#include "r_learn.h"

#include <cmath>

namespace bnpvi {

void read_run(const Fields& control, RestartOptions& options) {
  options.max_laps = control.integer("max_laps");
  options.tol = control.number("tol");
  options.seed = static_cast<std::uint64_t>(control.number("seed"));
  if (control.has("restarts")) options.restarts = control.integer("restarts");
  options.keep_interrupted = control.optional_flag("keep_interrupted");
}

LearnOptions learn_options(const Rcpp::List& control) {
  const Rcpp::List list = control["moves"];
  const ListFields c(control), moves(list);
  LearnOptions o;
  read_run(c, o);
  const Vec rate = c.numbers("learning_rate");
  o.delay = rate.at(0);
  o.power = rate.at(1);
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

void add_run(const Restarted& run, Rcpp::List& out) {
  const Course& course = run.best.course;
  out.push_back(trace_to_r(course.trace), "trace");
  out.push_back(course.converged, "converged");
  out.push_back(course.reason, "reason");
  out.push_back(static_cast<int>(course.laps()), "laps");
  if (run.interrupted) out.push_back(true, "interrupted");
  if (course.reason == "numerical") out.push_back(record_to_r(course.taken_back), "taken_back");
  if (run.ends.size() < 2) return;
  out.push_back(trace_to_r(run.ends), "restarts");
  out.push_back(Rcpp::wrap(run.seeds), "seeds");
}

}  // namespace bnpvi
