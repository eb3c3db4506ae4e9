// Entries for tests: q(x) of linear systems.
#include "r_lds.h"
#include "dynamics/start_lds.h"
#include "r_family.h"
#include "r_testing_entries.h"

using namespace bnpvi;
using namespace bnpvi::dynamics;

namespace {

// q(x) for given responsibilities and weights of modes (K × p, for the dynamics), in engine units of a model
// whose units are 1. state: count and moment of the emission; a list of such states if the emission depends
// on the mode.
Rcpp::List engine_lds_chain(Rcpp::List data, Rcpp::List model, Rcpp::List state, Rcpp::NumericMatrix resp,
                            Rcpp::NumericMatrix weights) {
  return entry([&] {
    LonePool lone;
    Lds lds(data, model, lone.pool);
    const LdsProblem& problem = lds.problem;
    const Series& s = lds.series;
    const Vec r = row_major(resp, s.n, resp.ncol(), "resp"),
              w = row_major(weights, resp.ncol(), problem.dynamics().n_features(), "weights");
    EmissionPrior one = problem.emission;
    one.by_mode = false;
    std::vector<Emission> emission;
    for (Index k = 0; k < (problem.by_mode() ? resp.ncol() : 1); ++k)
      emission.emplace_back(
          problem.emission,
          seen_from_r(problem.by_mode() ? Rcpp::List(static_cast<SEXP>(state[k])) : state, one));
    LdsState out{{},
                 LatentPaths(s, problem.emission),
                 resp.ncol(),
                 r,
                 EmissionStatistics(problem.emission),
                 emission,
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
    if (!problem.by_mode())
      list.push_back(out.emission[0].expected(emission_of(problem, out.paths)), "expected");
    return list;
  });
}

const testing::Entry entries[] = {
    {"engine_lds_chain", {"data", "model", "state", "resp", "weights"}, engine_lds_chain},
};

}  // namespace
