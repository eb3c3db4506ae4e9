// The entries of bregman_kmeans() and scalable_kmeans(): hard clusters under any observation model.
#include <algorithm>
#include <cmath>

#include "inference/start/scalable_kmeans.h"
#include "r_convert.h"
#include "r_source.h"

using namespace bnpvi;

// [[Rcpp::export]]
Rcpp::List engine_kmeans(Rcpp::List data, Rcpp::List obs, int k, int rounds, bool spread, double seed) {
  return entry([&] {
    RData rdata(data);
    const auto model = make_obs_model(ListFields(obs));
    const Dataset& view = rdata.view_for(*model);
    RMonitor monitor{R_NilValue};
    Pool pool(1, monitor);
    const std::vector<Index> rows = modelled_rows(view.starts, model->capabilities().lag);
    Stream stream(static_cast<std::uint64_t>(seed), Purpose::initial_seeds);
    const HardClusters hard = bregman_kmeans(*model, view, rows, nullptr, k, spread, rounds, stream, pool);

    const Index p = model->n_features(), n = static_cast<Index>(rows.size());
    Weights weights;
    weights.k = hard.k;
    weights.p = p;
    weights.w.resize(hard.t.size());
    Vec mean(static_cast<std::size_t>(p));
    for (Index j = 0; j < hard.k; ++j) {
      model->point_estimate(hard.t.data() + j * p, mean.data(), weights.w.data() + j * p);
      weights.w[j * p] += std::log(hard.t[j * p] / static_cast<double>(n));
    }
    weights.transpose();

    Rcpp::IntegerVector cluster =
        made_in_r([&] { return Rcpp::IntegerVector(static_cast<int>(view.n), NA_INTEGER); });
    FeatureBlock block(*model, view);
    Vec score;
    double objective = sum_log_base(*model, view, rows, nullptr);
    for (Index from = 0; from < n; from += block.block_rows()) {
      pool.poll();
      const Index m = std::min(block.block_rows(), n - from);
      block.load(rows.data() + from, m);
      score.resize(static_cast<std::size_t>(m * hard.k));
      block.times(weights, score.data());
      for (Index i = 0; i < m; ++i) {
        const double* row = score.data() + i * hard.k;
        const Index best = std::max_element(row, row + hard.k) - row;
        cluster[rows[from + i]] = 1 + static_cast<int>(best);
        objective += row[best];
      }
    }
    return Rcpp::List::create(Rcpp::_["cluster"] = cluster, Rcpp::_["k"] = static_cast<int>(hard.k),
                              Rcpp::_["objective"] = objective);
  });
}
