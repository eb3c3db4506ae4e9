// Entries for tests: predictives by cluster, and bounds for given responsibilities.
#include <algorithm>

#include "inference/start/start.h"
#include "r_query.h"
#include "r_testing_entries.h"

using namespace bnpvi;

namespace {

// log p(x | cluster), n × (K + 1): under the posterior predictive of each cluster and, in the last column,
// of a cluster not seen yet; NA for rows that are not modelled.
Rcpp::NumericMatrix engine_log_predictives(Rcpp::List data, Rcpp::List model, Rcpp::List state, int threads) {
  return entry([&] {
    Query q(data, model, state, threads);
    const Index n = q.data().n;
    Rcpp::NumericMatrix out =
        made_in_r([&] { return Rcpp::NumericMatrix(static_cast<int>(n), static_cast<int>(q.k() + 1)); });
    std::fill(out.begin(), out.end(), NA_REAL);
    double* value = out.begin();
    const ClusterDensities densities(q.obs(), q.globals.effective.obs, q.k() + 1, DensityAt::posterior);
    for_densities(q, densities, [&](Index row, const Vec& log_p, double base) {
      for (std::size_t j = 0; j < log_p.size(); ++j) value[static_cast<Index>(j) * n + row] = log_p[j] + base;
    });
    return out;
  });
}

Rcpp::NumericVector engine_elbo_of(Rcpp::List data, Rcpp::List model, Rcpp::NumericMatrix resp) {
  return entry([&] {
    RData rdata(data);
    const RModel rmodel(model);
    const Dataset& view = rdata.view_for(*rmodel.obs);
    require(resp.nrow() == view.n, "resp has not n rows");
    RMonitor monitor{R_NilValue};
    Pool pool(1, monitor);
    const MemorySource source(view, {all_units(view, rmodel)});
    const Problem problem{source, *rmodel.obs, *rmodel.alloc};
    const State state = start_from_responsibilities(problem, {resp.begin(), view.n, resp.ncol()}, pool);
    return terms_to_r(elbo_terms(problem, state.total, state.globals));
  });
}

const testing::Entry entries[] = {
    {"engine_log_predictives", {"data", "model", "state", "threads"}, engine_log_predictives},
    {"engine_elbo_of", {"data", "model", "resp"}, engine_elbo_of},
};

}  // namespace
