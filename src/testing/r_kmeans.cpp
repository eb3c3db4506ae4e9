// Entries for tests: k-means from few passes over the batches.
#include "inference/start/scalable_kmeans.h"
#include "r_source.h"
#include "r_testing_entries.h"

using namespace bnpvi;

namespace {

// scalable_kmeans() with k_init clusters: numbers of the candidates from 1 and the mass of each, potentials,
// statistics of the clusters, and weights of their point estimates.
Rcpp::List engine_scalable_kmeans(Rcpp::List data, Rcpp::List model, Rcpp::List control, int rounds) {
  return entry([&] {
    return on_dealt_data(data, model, control, [&](const Problem& problem, RPool& pool, const ListFields& c) {
      const ScalableClusters out = scalable_kmeans(problem, c.integer("k_init"), pool, rounds);
      const Index p = problem.obs->n_features();
      Vec mean(static_cast<std::size_t>(p)), w(out.clusters.t.size());
      for (Index j = 0; j < out.clusters.k; ++j)
        problem.obs->point_estimate(out.clusters.t.data() + j * p, mean.data(), w.data() + j * p);
      return made_in_r([&] {
        using Rcpp::_;
        const auto by_cluster = [&](const Vec& x) {
          return Rcpp::transpose(
              Rcpp::NumericMatrix(static_cast<int>(p), static_cast<int>(out.clusters.k), x.begin()));
        };
        const Rcpp::IntegerVector candidate(out.candidate.begin(), out.candidate.end());
        return Rcpp::List::create(_["candidate"] = candidate + 1, _["mass"] = out.mass,
                                  _["potential"] = out.potential,
                                  _["statistics"] = by_cluster(out.clusters.t), _["weights"] = by_cluster(w));
      });
    });
  });
}

const testing::Entry entries[] = {
    {"engine_scalable_kmeans", {"data", "model", "control", "rounds"}, engine_scalable_kmeans},
};

}  // namespace
