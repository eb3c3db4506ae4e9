// Entries for tests: q(x) of linear systems.
#include "r_lds.h"
#include "dynamics/start_lds.h"
#include "r_family.h"
#include "r_testing_entries.h"

using namespace bnpvi;
using namespace bnpvi::dynamics;

namespace {

// q(x) for given responsibilities and weights of modes (K × p), in engine units of a model whose units are 1
//.
Rcpp::List engine_lds_chain(Rcpp::List data, Rcpp::List model, Rcpp::List state, Rcpp::NumericMatrix resp,
                            Rcpp::NumericMatrix weights) {
  return entry([&] {
    LonePool lone;
    Lds lds(data, model, lone.pool);
    const LdsProblem& problem = lds.problem;
    const Series& s = lds.series;
    const Vec r = row_major(resp, s.n, resp.ncol(), "resp"),
              w = row_major(weights, resp.ncol(), problem.obs.n_features(), "weights");
    const EmissionStatistics seen = seen_from_r(state, problem.emission);
    LdsState out{{},
                 LatentPaths(s.n, problem.m, problem.intercept, s.n_groups()),
                 resp.ncol(),
                 r,
                 seen,
                 Emission(problem.emission, seen),
                 {},
                 {},
                 {},
                 {},
                 0};
    for (Index g = 0; g < s.n_groups(); ++g)
      smooth_rows(
          s, s.starts[g], s.starts[g + 1], g, {r.data(), resp.ncol(), w.data()}, out.emission, problem.start,
          [] {}, out.paths);
    Rcpp::List list = paths_to_r(lds, out);
    list.push_back(out.emission.expected(emission_of(problem, out.paths)), "expected");
    return list;
  });
}

const testing::Entry entries[] = {
    {"engine_lds_chain", {"data", "model", "state", "resp", "weights"}, engine_lds_chain},
};

}  // namespace
