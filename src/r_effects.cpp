// Posteriors of the random coefficients of single individuals.
#include <algorithm>
#include <cmath>

#include "mixtures/mixture.h"
#include "models/registry.h"
#include "observations/random_effects.h"
#include "r_convert.h"

using namespace bnpvi;

// The sums over the rows of each individual from which the engine learns: one row for each individual of
// `data`. obs: a model with random effects.
// [[Rcpp::export]]
Rcpp::NumericMatrix engine_individual_sums(Rcpp::List data, Rcpp::List obs) {
  return entry([&] {
    const auto model = make_obs_model(ListFields(obs));
    RData rows(data);
    if (rows.view().n == 0) return Rcpp::NumericMatrix(0, static_cast<int>(model->n_columns()));
    const Dataset& sums = rows.view_for(*model);
    require(!sums.sparse(), "the rows of individuals are kept, not added up");
    Rcpp::NumericMatrix out(static_cast<int>(sums.n), static_cast<int>(sums.d));
    std::copy_n(sums.dense, sums.n * sums.d, out.begin());
    return out;
  });
}

// q(a) of each individual in each cluster, list(mean: n × q × K, cov: q × q × n × K), and responsibilities
// prob: n × K. sums: one row for each individual, the sums of its rows as the engine computes them.
// [[Rcpp::export]]
Rcpp::List engine_individual_effects(Rcpp::NumericMatrix sums, Rcpp::List model, Rcpp::List state) {
  return entry([&] {
    const RModel rmodel(model);
    const Globals globals = state_from_r(state, rmodel);
    const RandomEffects& obs = same_kind<RandomEffects>(*rmodel.obs);
    const auto& alloc = alloc_of<mixtures::MixtureAlloc>(*rmodel.alloc);
    require(sums.ncol() == obs.n_columns(), "sums have another number of columns than the model");
    Dataset data;
    data.n = sums.nrow();
    data.d = sums.ncol();
    data.dense = sums.begin();
    const Index n = data.n, k = globals.effective.k, q = obs.n_effects(), p = obs.n_features();
    Rcpp::NumericVector mean(static_cast<R_xlen_t>(n * q * k)), cov(static_cast<R_xlen_t>(n * q * q * k)),
        prob(static_cast<R_xlen_t>(n * k));
    const Vec log_pi = alloc.expected_log_weights(globals.effective.sizes());
    for (Index c = 0; c < k; ++c)
      obs.effects_of(data, globals.effective.obs.data() + c * p, log_pi[c], mean.begin() + c * n * q,
                     cov.begin() + c * n * q * q, prob.begin() + c * n);
    for (Index i = 0; i < n; ++i) {
      double most = -INFINITY, sum = 0;
      for (Index c = 0; c < k; ++c) most = std::max(most, prob[c * n + i]);
      for (Index c = 0; c < k; ++c) sum += prob[c * n + i] = std::exp(prob[c * n + i] - most);
      for (Index c = 0; c < k; ++c) prob[c * n + i] /= sum;
    }
    const auto dim = [](std::initializer_list<Index> sizes) {
      return Rcpp::IntegerVector(sizes.begin(), sizes.end());
    };
    mean.attr("dim") = dim({n, q, k});
    cov.attr("dim") = dim({q, q, n, k});
    prob.attr("dim") = dim({n, k});
    return Rcpp::List::create(Rcpp::Named("mean") = mean, Rcpp::Named("cov") = cov,
                              Rcpp::Named("prob") = prob);
  });
}
