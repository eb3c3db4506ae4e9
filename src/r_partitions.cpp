// Entries that summarise draws of partitions.
#include <algorithm>

#include "r_convert.h"
#include "sampling/point_partition.h"

using namespace bnpvi;

namespace {

// Labels 1 .. K of M partitions, n × M.
Partitions partitions_from_r(const Rcpp::IntegerMatrix& labels) {
  Partitions out;
  out.n = labels.nrow();
  out.label.assign(labels.begin(), labels.end());
  for (int m = 0; m < labels.ncol(); ++m) {
    Index k = 0;
    for (int label : labels.column(m)) k = std::max<Index>(k, label);
    out.k.push_back(k);
  }
  for (int& label : out.label) require(--label >= 0, "labels are not 1 to K");
  return out;
}

std::vector<int> labels_from_r(const Rcpp::IntegerVector& labels, Index n) {
  require(labels.size() == n, "a partition has not one label for each row");
  std::vector<int> out(labels.begin(), labels.end());
  for (int& label : out) require(--label >= 0, "labels are not 1 to K");
  return out;
}

PartitionLoss loss_named(const std::string& name) {
  require(name == "vi" || name == "binder", "unknown loss");
  return name == "vi" ? PartitionLoss::variation : PartitionLoss::binder;
}

}  // namespace

// [[Rcpp::export]]
Rcpp::NumericVector engine_partition_losses(Rcpp::IntegerMatrix draws, Rcpp::IntegerVector labels,
                                            std::string loss) {
  return entry([&] {
    const Partitions partitions = partitions_from_r(draws);
    return Rcpp::wrap(losses(partitions, labels_from_r(labels, partitions.n), loss_named(loss)));
  });
}

// The best end of searches from several starts (a list of labels); `starts` on as many threads.
// [[Rcpp::export]]
Rcpp::List engine_point_partition(Rcpp::IntegerMatrix draws, Rcpp::List starts, std::string loss, double most,
                                  double seed, int threads) {
  return entry([&] {
    const Partitions partitions = partitions_from_r(draws);
    std::vector<std::vector<int>> from;
    for (SEXP start : starts) from.push_back(labels_from_r(Rcpp::IntegerVector(start), partitions.n));
    const PartitionLoss kind = loss_named(loss);
    RMonitor monitor{R_NilValue};
    RPool pool(threads, monitor);
    std::vector<PointPartition> found(from.size());
    pool.run(static_cast<Index>(from.size()), [&](Index i) {
      Stream stream(static_cast<std::uint64_t>(seed), Purpose::point_partition,
                    static_cast<std::uint64_t>(i));
      found[i] = improve_partition(partitions, from[i], kind, static_cast<Index>(most), stream, pool);
    });
    const auto best = std::min_element(found.begin(), found.end(),
                                       [](const auto& a, const auto& b) { return a.loss < b.loss; });
    return made_in_r([&] {
      Rcpp::IntegerVector labels(best->label.begin(), best->label.end());
      for (int& label : labels) ++label;
      return Rcpp::List::create(Rcpp::_["labels"] = labels, Rcpp::_["loss"] = best->loss);
    });
  });
}
