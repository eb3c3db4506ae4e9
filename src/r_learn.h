// What fits of all families read from R's list `control`, and what they return about a run.
#pragma once
#include "r_convert.h"

namespace bnpvi {

/// Reads from `control` how long and how often to learn: max_laps, tol, seed, restarts and keep_interrupted.
void read_run(const Fields& control, RestartOptions& options);
LearnOptions learn_options(const Rcpp::List& control);

/// A data frame of the trace, with one row for each lap (a pass over all batches).
Rcpp::DataFrame trace_to_r(const std::vector<LapRecord>& trace);

/// How a fit is to start. It is given by the fields `init` and `k_init` of the control or, if several kinds
/// of start alternate, by control$kinds. The names of control$kinds are values of `init`. Its elements are
/// list(least, most), the range of the number k of clusters.
struct AskedStart {
  std::string init;
  Index k = 0;
};
AskedStart asked_start(const Fields& control, const Start& start);

/// Adds to an R list what every fit returns about its run: trace, converged, reason and laps; also
/// interrupted, restarts and taken_back, if they apply.
void add_run(const Restarted& run, const Fields& control, Rcpp::List& out);

}  // namespace bnpvi
