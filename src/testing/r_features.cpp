// Entries for tests: terms of a feature prior, and the bound without a feature.
#include "r_features.h"
#include "features/stick_series.h"
#include "r_testing_entries.h"

using namespace bnpvi;
using namespace bnpvi::features;

namespace {

// The terms of a feature prior for these counts; with `stick`, the series at these stick weights.
Rcpp::List engine_feature_prior(Rcpp::List prior, Rcpp::NumericVector counts, double n,
                                Rcpp::NumericVector stick) {
  using Rcpp::_;
  const Vec count(counts.begin(), counts.end());
  if (stick.size() > 0) {
    Vec weight;
    for (int i = 0; i < stick.size() / 2; ++i) weight.push_back(n - (i < counts.size() ? counts[i] : 0));
    const StickSeries s = stick_series(Vec(stick.begin(), stick.end()), weight);
    return Rcpp::List::create(_["complement"] = s.complement, _["dilogarithm"] = s.dilogarithm,
                              _["complement_gradient"] = s.complement_gradient,
                              _["dilogarithm_gradient"] = s.dilogarithm_gradient);
  }
  const FeatureWeights w = make_feature_prior(ListFields(prior))->fit(count, n, {});
  return Rcpp::List::create(_["value"] = w.value, _["logit"] = w.logit, _["prob"] = w.prob,
                            _["stick"] = w.stick, _["alpha"] = w.alpha);
}

// value_without() of every feature, for rows that have features with the probabilities `presence`.
Rcpp::NumericVector engine_features_without(Rcpp::List data, Rcpp::List model, Rcpp::NumericMatrix presence) {
  return entry([&] {
    RMonitor monitor{R_NilValue};
    RPool pool(1, monitor);
    const FeatureModel given(model);
    const FeatureData in_memory(data);
    const Rows rows = in_memory.whole(given);
    const FeatureProblem problem{rows, given.likelihood, *given.prior, given.offset, 0, 0, pool};
    const FeatureState state = starting_state(problem, Rcpp::List::create(Rcpp::_["presence"] = presence));
    Vec out;
    for (Index j = 0; j < state.k(); ++j)
      out.push_back(value_without(problem.likelihood, rows, state.loadings, j + problem.offset));
    return made_in_r([&] { return Rcpp::NumericVector(out.begin(), out.end()); });
  });
}

const testing::Entry entries[] = {
    {"engine_feature_prior", {"prior", "counts", "n", "stick"}, engine_feature_prior},
    {"engine_features_without", {"data", "model", "presence"}, engine_features_without},
};

}  // namespace
