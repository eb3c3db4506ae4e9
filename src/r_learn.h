// What all families read of a control and return of a fit.
#pragma once
#include "r_convert.h"

namespace bnpvi {

/// Laps, tol, seed, restarts and keep_interrupted.
void read_run(const Fields& control, RestartOptions& options);
LearnOptions learn_options(const Rcpp::List& control);

/// A data frame with a row for each lap.
Rcpp::DataFrame trace_to_r(const std::vector<LapRecord>& trace);

/// How the control asks a fit to begin: by its `init` and `k_init`, or where several kinds of start take
/// turns by control$kinds, lists list(least, most) by the names of inits.
struct AskedStart {
  std::string init;
  Index k = 0;
};
AskedStart asked_start(const Fields& control, const Start& start);

/// What every fit returns of its run: trace, converged, reason and laps; interrupted, restarts and taken_back
/// where there is something to say.
void add_run(const Restarted& run, const Fields& control, Rcpp::List& out);

}  // namespace bnpvi
