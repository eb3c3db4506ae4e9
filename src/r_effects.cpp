// What is known of the coefficients of single individuals.
#include "observations/random_effects.h"
#include "r_query.h"

using namespace bnpvi;

// q(a) of each individual in each cluster: list(mean: n × q × K, cov: q × q × n × K).
// [[Rcpp::export]]
Rcpp::List engine_individual_effects(Rcpp::List data, Rcpp::List model, Rcpp::List state, int threads) {
  return entry([&] {
    Query query(data, model, state, threads);
    const auto* obs = dynamic_cast<const RandomEffects*>(&query.obs());
    require(obs != nullptr, "the model has no random effects");
    const Index n = query.data().n, k = query.k(), q = obs->n_effects();
    Rcpp::NumericVector mean = made_in_r([&] { return Rcpp::NumericVector(static_cast<R_xlen_t>(n * q * k)); }),
                        cov = made_in_r([&] { return Rcpp::NumericVector(static_cast<R_xlen_t>(n * q * q * k)); });
    double *means = mean.begin(), *covs = cov.begin();
    const Index p = obs->n_features();
    query.pool.run(k, [&](Index c) {
      obs->effects_of(query.data(), query.globals.effective.obs.data() + c * p, means + c * n * q,
                      covs + c * n * q * q);
    });
    const auto dim = [](std::initializer_list<Index> sizes) { return Rcpp::IntegerVector(sizes.begin(), sizes.end()); };
    mean.attr("dim") = dim({n, q, k});
    cov.attr("dim") = dim({q, q, n, k});
    return Rcpp::List::create(Rcpp::Named("mean") = mean, Rcpp::Named("cov") = cov);
  });
}
