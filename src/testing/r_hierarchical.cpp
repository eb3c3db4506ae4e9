// Entries for tests: formulas of hierarchical priors.
#include "observations/hierarchical_dirichlet.h"
#include "observations/hierarchical_gaussian.h"
#include "r_convert.h"
#include "r_testing_entries.h"

using namespace bnpvi;

namespace {

HyperpriorOfData about_from_r(const Rcpp::List& list) {
  const ListFields fields(list);
  const Fields& f = fields;
  const Vec given = f.numbers("given", 4);
  return {f.numbers("location"),
          f.numbers("variance"),
          f.numbers("floor"),
          f.integer("d"),
          f.flag("spherical"),
          {given[0] != 0, given[1] != 0, given[2] != 0, given[3] != 0},
          f.has("regressors") ? f.numbers("regressors") : Vec{1}};
}

HyperPosterior posterior_from_r(const Rcpp::List& list) {
  const ListFields fields(list);
  const Fields& f = fields;
  return {f.number("df"),
          f.number("wishart_df"),
          f.numbers("shape"),
          f.numbers("shape_df"),
          f.numbers("rate"),
          f.numbers("mean"),
          f.numbers("mean_variance"),
          f.number("strength_shape"),
          f.number("strength_rate"),
          f.numbers("scale")};
}

Rcpp::List posterior_to_r(const HyperPosterior& q) {
  using Rcpp::_;
  return Rcpp::List::create(_["df"] = q.df, _["wishart_df"] = q.wishart_df, _["shape"] = q.shape,
                            _["shape_df"] = q.shape_df, _["rate"] = q.rate, _["mean"] = q.mean,
                            _["mean_variance"] = q.mean_variance, _["strength_shape"] = q.strength_shape,
                            _["strength_rate"] = q.strength_rate, _["scale"] = q.scale);
}

// The effective prior, occupied terms by block, and log density for q(H); and q(H) after one round of
// coordinate ascent given list(used, precision, weighted_offset, mean_spread), the ExpectedClusters.
Rcpp::List engine_hyperparameters(Rcpp::List about, Rcpp::List posterior, Rcpp::List expected) {
  return entry([&] {
    const HierarchicalGaussian model(about_from_r(about));
    const HyperPosterior q = posterior_from_r(posterior);
    const NormalWishart prior = model.effective(q);
    Vec occupied;
    for (Index j = 0; j < model.blocks(); ++j) occupied.push_back(model.occupied_term(q, j));
    using Rcpp::_;
    Rcpp::List out = Rcpp::List::create(_["mean"] = prior.mean, _["strength"] = prior.strength,
                                        _["df"] = prior.df, _["scale"] = prior.scale,
                                        _["occupied"] = occupied, _["log_density"] = model.log_density(q));
    if (expected.size() == 0) return out;
    const ListFields fields(expected);
    const Fields& e = fields;
    const ExpectedClusters sums{0, e.numbers("used"), e.numbers("precision"), e.numbers("weighted_offset"),
                                e.number("mean_spread")};
    out.push_back(posterior_to_r(model.refreshed(q, sums)), "refreshed");
    return out;
  });
}

// One column with `levels` levels: λ and mean weights; log density without the weights of even and common;
// the bound, also without them, before and after each of `rounds` rounds of ascent; and the final ω. counts:
// clusters × levels.
Rcpp::List engine_hyper_shares(int levels, double even, double common, Rcpp::NumericVector omega,
                               Rcpp::NumericMatrix counts, int rounds) {
  return entry([&] {
    const HierarchicalDirichlet model({levels}, {0, 0}, {0, 0});
    SharePosterior q{even, common, Vec(omega.begin(), omega.end())};
    Vec t;
    for (int k = 0; k < counts.nrow(); ++k)
      for (int v = 0; v < levels; ++v) t.push_back(counts(k, v));
    const HierarchicalDirichlet::Counts of{t.data(), counts.nrow(), levels, nullptr, {}};
    using Rcpp::_;
    Rcpp::List out = Rcpp::List::create(_["weight"] = model.weights(q), _["mean"] = model.mean_weights(q),
                                        _["log_density"] = model.log_density(q));
    Vec bound{model.bound(q, of)};
    for (int i = 0; i < rounds; ++i) {
      q = model.refreshed(q, of);
      bound.push_back(model.bound(q, of));
    }
    out.push_back(bound, "bound");
    out.push_back(q.omega, "omega");
    return out;
  });
}

const testing::Entry entries[] = {
    {"engine_hyper_shares", {"levels", "even", "common", "omega", "counts", "rounds"}, engine_hyper_shares},
    {"engine_hyperparameters", {"about", "posterior", "expected"}, engine_hyperparameters},
};

}  // namespace
