// The entry of bnp_dynamic_means().
#include "mixtures/dynamic_means.h"
#include "r_convert.h"

using namespace bnpvi;
using namespace bnpvi::mixtures;

// x: n × d, sorted by time; starts: offsets of the batches.
// [[Rcpp::export]]
Rcpp::List engine_dynamic_means(Rcpp::NumericMatrix x, Rcpp::IntegerVector starts, double lambda, double q,
                                double tau) {
  return entry([&] {
    const Index n = x.nrow(), d = x.ncol(), batches = starts.size() - 1;
    require(batches > 0 && starts[0] == 0 && starts[batches] == n, "batches");
    RMonitor monitor{R_NilValue};
    Pool pool(1, monitor);
    DynamicMeans learner(d, {lambda, q, tau});
    std::vector<int> label, time, cluster, batch, sweep;
    Vec size, mean, trace, last;
    for (Index t = 0; t < batches; ++t) {
      const DynamicBatch found = learner.add(x.begin() + starts[t], starts[t + 1] - starts[t], n, pool);
      for (int id : found.label) label.push_back(id + 1);
      for (const BatchCluster& c : found.clusters) {
        time.push_back(static_cast<int>(t) + 1);
        cluster.push_back(c.id + 1);
        size.push_back(static_cast<double>(c.size));
        mean.insert(mean.end(), c.mean.begin(), c.mean.end());
      }
      for (std::size_t i = 0; i < found.objective.size(); ++i) {
        batch.push_back(static_cast<int>(t) + 1);
        sweep.push_back(static_cast<int>(i) + 1);
        trace.push_back(found.objective[i]);
      }
      last.push_back(found.objective.back());
    }
    return Rcpp::List::create(
        Rcpp::_["label"] = label, Rcpp::_["time"] = time, Rcpp::_["cluster"] = cluster,
        Rcpp::_["size"] = size,
        Rcpp::_["mean"] =
            Rcpp::NumericMatrix(static_cast<int>(d), static_cast<int>(size.size()), mean.begin()),
        Rcpp::_["trace"] = Rcpp::DataFrame::create(Rcpp::_["batch"] = batch, Rcpp::_["sweep"] = sweep,
                                                   Rcpp::_["objective"] = trace),
        Rcpp::_["objective"] = last);
  });
}
