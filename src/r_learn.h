// What all families read of a control and return of a fit.
#pragma once
#include "r_convert.h"

namespace bnpvi {

LearnOptions learn_options(const Rcpp::List& control);

/// A data frame with a row for each lap.
Rcpp::DataFrame trace_to_r(const std::vector<LapRecord>& trace);

}  // namespace bnpvi
