// What all families read from `control` and return about a run.
#pragma once
#include "r_convert.h"

namespace bnpvi {

/// Reads max_laps, tol, seed, restarts and keep_interrupted.
void read_run(const Fields& control, RestartOptions& options);
LearnOptions learn_options(const Rcpp::List& control);

/// A data frame of the trace, with one row for each lap (a pass over all batches).
Rcpp::DataFrame trace_to_r(const std::vector<LapRecord>& trace);

/// How a fit is to start: by the fields `init` and `k_init` of the control or, if several kinds of start
/// alternate, by control$kinds, whose names are inits and whose elements are list(least, most), the range of
/// k.
struct AskedStart {
  std::string init;
  Index k = 0;
};
AskedStart asked_start(const Fields& control, const Start& start);

/// Adds what every fit returns about its run: trace, converged, reason and laps; interrupted, restarts and
/// taken_back only if they apply.
void add_run(const Restarted& run, const Fields& control, Rcpp::List& out);

}  // namespace bnpvi
