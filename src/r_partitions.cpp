// Entries that summarise draws of partitions.
#include <algorithm>

#include "r_convert.h"
#include "sampling/point_partition.h"

using namespace bnpvi;

namespace {

// M partitions from a matrix n × M with labels 1 .. K in each column.
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

template <class Labels>
std::vector<int> labels_from_r(const Labels& labels, Index n) {
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

// Losses of C partitions (n × C) with respect to M draws (n × M): M × C.
// [[Rcpp::export]]
Rcpp::NumericMatrix engine_partition_losses(Rcpp::IntegerMatrix draws, Rcpp::IntegerMatrix labels,
                                            std::string loss, int threads) {
  return entry([&] {
    const Partitions partitions = partitions_from_r(draws);
    const PartitionLoss kind = loss_named(loss);
    std::vector<std::vector<int>> label;
    for (int c = 0; c < labels.ncol(); ++c) label.push_back(labels_from_r(labels.column(c), partitions.n));
    RMonitor monitor{R_NilValue};
    RPool pool(threads, monitor);
    std::vector<Vec> found(label.size());
    pool.run(labels.ncol(), [&](Index c) {
      pool.poll();
      found[c] = losses(partitions, label[c], kind);
    });
    return made_in_r([&] {
      Rcpp::NumericMatrix out(draws.ncol(), labels.ncol());
      for (int c = 0; c < out.ncol(); ++c) std::copy(found[c].begin(), found[c].end(), out.column(c).begin());
      return out;
    });
  });
}

// The best partition found by searches from several starts (a list of labels), which run on as many threads.
// [[Rcpp::export]]
Rcpp::List engine_point_partition(Rcpp::IntegerMatrix draws, Rcpp::List starts, std::string loss, double most,
                                  double seed, int threads) {
  return entry([&] {
    const Partitions partitions = partitions_from_r(draws);
    std::vector<std::vector<int>> from;
    for (SEXP start : starts) from.push_back(labels_from_r(Rcpp::IntegerVector(start), partitions.n));
    RMonitor monitor{R_NilValue};
    RPool pool(threads, monitor);
    const PointPartition best = search_partition(partitions, from, loss_named(loss), static_cast<Index>(most),
                                                 static_cast<std::uint64_t>(seed), pool);
    return made_in_r([&] {
      Rcpp::IntegerVector labels(best.label.begin(), best.label.end());
      for (int& label : labels) ++label;
      return Rcpp::List::create(Rcpp::_["labels"] = labels, Rcpp::_["loss"] = best.loss);
    });
  });
}
