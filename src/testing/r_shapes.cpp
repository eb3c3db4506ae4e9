// An entry for tests: the integral over a shape.
#include "foundation/gamma_prior.h"
#include "observations/shape_lattice.h"
#include "r_testing_entries.h"

using namespace bnpvi;

namespace {

// prior: its shape and rate. log_evidence: an R function of the shape. start: a guess of the shape's
// logarithm.
Rcpp::List engine_shape_integral(const Rcpp::NumericVector& prior, const Rcpp::Function& log_evidence,
                                 double n, double start) {
  const auto evidence = [&](double s) { return Rcpp::as<double>(log_evidence(s)); };
  const ShapeLattice lattice({prior[0], prior[1]}, evidence, n, start);
  using Rcpp::_;
  return Rcpp::List::create(_["log_integral"] = lattice.log_integral(), _["shape"] = lattice.shape(),
                            _["prob"] = lattice.prob());
}

const testing::Entry entries[] = {
    {"engine_shape_integral", {"prior", "log_evidence", "n", "start"}, engine_shape_integral},
};

}  // namespace
