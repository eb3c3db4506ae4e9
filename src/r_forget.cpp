// Entries for fits that drop part of their statistics before they take in more data.
#include "r_convert.h"

using namespace bnpvi;

// The state of a fit of drifting clusters after its first `gone` times were condensed
// (ForgetsTimes::condensed): `obs` (K × features of the times from the last of these on), `mean_strength` of
// the prior at that time, and `constant`, by which Λ of all clusters has become lower.
// [[Rcpp::export]]
Rcpp::List engine_condense_times(Rcpp::List model, Rcpp::List state, int gone) {
  return entry([&] {
    const RModel rmodel(model);
    const ForgetsTimes* obs = rmodel.obs->capabilities().times;
    require(obs && gone > 0, "times of clusters that drift");
    const Globals globals = state_from_r(state, rmodel);
    const Index k = globals.effective.k;
    double constant = 0;
    std::vector<Vec> rows;
    for (Index j = 0; j < k; ++j) rows.push_back(obs->condensed(globals.effective.t(j), gone, constant));
    Rcpp::NumericMatrix out(static_cast<int>(k), static_cast<int>(rows[0].size()));
    for (Index j = 0; j < k; ++j)
      for (std::size_t i = 0; i < rows[j].size(); ++i)
        out(static_cast<int>(j), static_cast<int>(i)) = rows[j][i];
    return Rcpp::List::create(Rcpp::_["obs"] = out, Rcpp::_["mean_strength"] = obs->strength_at(gone - 1),
                              Rcpp::_["constant"] = constant);
  });
}

// The bound given the statistics and globals that a fit stores.
// [[Rcpp::export]]
double engine_bound_of_state(Rcpp::List model, Rcpp::List state) {
  return entry([&] {
    const RModel rmodel(model);
    const Globals globals = state_from_r(state, rmodel);
    const Dataset none;
    const MemorySource source(none, {std::vector<Index>()});
    const Problem problem{source, *rmodel.obs, *rmodel.alloc};
    return sum_terms(elbo_terms(problem, globals.effective, globals));
  });
}
