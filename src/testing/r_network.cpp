// Entries for tests: partitions of networks and soft blocks.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "networks/learn_blocks.h"
#include "networks/partition_search.h"
#include "r_network.h"
#include "r_testing_entries.h"

using namespace bnpvi;
using Rcpp::_;

namespace {

// J of a partition given by labels, and the change of J by joining each pair of clusters.
Rcpp::List engine_network_joint(Rcpp::List data, Rcpp::List model, Rcpp::IntegerVector labels) {
  return entry([&] {
    const Links links = links_from_r(data);
    const LinkModel link_model = link_model_from_r(model);
    const std::unique_ptr<networks::Degrees> degrees = degrees_from_r(model, links);
    const networks::Partition p(links, link_model, ListFields(model).number("gamma"),
                                labels_from_r(labels, links.n()), degrees.get());
    Rcpp::NumericMatrix gain(static_cast<int>(p.k()), static_cast<int>(p.k()));
    for (Index a = 0; a < p.k(); ++a)
      for (Index b = 0; b < p.k(); ++b) gain(a, b) = a == b ? 0 : p.merge_gain(a, b);
    return Rcpp::List::create(_["log_joint"] = p.log_joint(), _["merge_gain"] = gain);
  });
}

// Applies a sequence of changes to a partition, each "sweep", "merge" or "divide". Returns J and the table
// after each, both as updated and as recomputed.
Rcpp::List engine_network_changes(Rcpp::List data, Rcpp::List model, Rcpp::IntegerVector labels,
                                  std::vector<std::string> changes, double seed) {
  return entry([&] {
    const Links links = links_from_r(data);
    const LinkModel link_model = link_model_from_r(model);
    const std::unique_ptr<networks::Degrees> degrees = degrees_from_r(model, links);
    OwnedLabels from = owned_labels_from_r(labels, links);
    networks::Partition p(links, link_model, ListFields(model).number("gamma"), std::move(from.label),
                          degrees.get(), std::move(from.owner));
    Stream random(static_cast<std::uint64_t>(seed), Purpose::test);
    std::vector<int> nodes(static_cast<std::size_t>(links.n()));
    std::iota(nodes.begin(), nodes.end(), 0);
    Rcpp::List out;
    for (const std::string& change : changes) {
      double said = NA_REAL;
      const double before = p.log_joint();
      if (change == "sweep") p.sweep(nodes);
      if (change == "divide") said = p.divide(random.index(p.k()), p.k(), random);
      if (change == "merge" && p.k() > 1) {
        const Index a = random.index(p.k() - 1);
        said = p.merge_gain(a, p.k() - 1);
        if (p.can_merge(a, p.k() - 1))
          p.merge(a, p.k() - 1);
        else
          said = 0;
      }
      const networks::Partition fresh = p.anew();
      double worst = 0;
      for (Index a = 0; a < p.k(); ++a)
        for (Index b = 0; b < p.k(); ++b)
          worst = std::max({worst, std::abs(p.pairs(a, b) - fresh.pairs(a, b)),
                            std::abs(p.sum(a, b) - fresh.sum(a, b)), std::abs(p.size(a) - fresh.size(a))});
      out.push_back(Rcpp::List::create(_["labels"] = labels_to_r(p.labels()), _["before"] = before,
                                       _["said"] = said, _["log_joint"] = p.log_joint(),
                                       _["fresh"] = fresh.log_joint(), _["worst"] = worst, _["k"] = p.k(),
                                       _["owner"] = p.owners()));
    }
    return out;
  });
}

// make_together() for a partition given by labels, with `splits` as labels, all from 1.
Rcpp::List engine_network_together(Rcpp::List data, Rcpp::List model, Rcpp::IntegerVector labels,
                                   std::vector<Rcpp::IntegerVector> splits) {
  return entry([&] {
    const Links links = links_from_r(data);
    const LinkModel link_model = link_model_from_r(model);
    networks::Partition p(links, link_model, ListFields(model).number("gamma"),
                          labels_from_r(labels, links.n()));
    std::vector<std::vector<int>> found;
    for (const Rcpp::IntegerVector& split : splits) found.push_back(labels_from_r(split, links.n()));
    const Index made = networks::make_together(p, found);
    return Rcpp::List::create(_["labels"] = labels_to_r(p.labels()), _["made"] = made,
                              _["log_joint"] = p.log_joint());
  });
}

// The bound of soft labels (n × K) before and after each of `laps` laps, and the final labels.
Rcpp::List engine_network_soft(Rcpp::List data, Rcpp::List model, Rcpp::NumericMatrix prob, int laps) {
  return entry([&] {
    const Links links = links_from_r(data);
    const LinkModel link_model = link_model_from_r(model);
    require(prob.nrow() == links.n(), "there is not a row for each node");
    networks::SoftBlocks soft(links, link_model, ListFields(model).number("gamma"), prob.ncol(),
                              rows_from_r(prob), owners_from_r(prob, prob.ncol()));
    Rcpp::NumericVector bound;
    const Rcpp::NumericVector terms = bound_to_r(soft.bound());
    for (int lap = 0; lap <= laps; ++lap) {
      if (lap > 0) soft.lap();
      bound.push_back(soft.bound().sum());
    }
    double merged = NA_REAL;
    if (soft.k() > 1) merged = soft.merged(0, 1).bound().sum();
    return Rcpp::List::create(_["bound"] = bound, _["terms"] = terms,
                              _["prob"] = matrix_to_r(soft.r(), links.n(), soft.k()), _["merged"] = merged);
  });
}

// For each set of nodes, numbered from 1: the statistics of blocks that a stochastic step with rate 1
// estimates at these soft labels (n × K), and the labels after the step; `exact`: the statistics of all
// pairs.
Rcpp::List engine_network_soft_steps(Rcpp::List data, Rcpp::List model, Rcpp::NumericMatrix prob,
                                     std::vector<Rcpp::IntegerVector> sets) {
  return entry([&] {
    const Links links = links_from_r(data);
    const LinkModel link_model = link_model_from_r(model);
    require(prob.nrow() == links.n(), "there is not a row for each node");
    const Index k = prob.ncol();
    const networks::SoftBlocks start(links, link_model, ListFields(model).number("gamma"), k,
                                     rows_from_r(prob));
    const auto tables = [&](const networks::SoftBlocks& soft) {
      Vec n, s;
      for (Index a = 0; a < k; ++a)
        for (Index b = 0; b < k; ++b) {
          n.push_back(soft.pairs(a, b));
          s.push_back(soft.sum(a, b));
        }
      return Rcpp::List::create(_["pairs"] = matrix_to_r(n, k, k), _["sum"] = matrix_to_r(s, k, k),
                                _["prob"] = matrix_to_r(soft.r(), links.n(), k));
    };
    Rcpp::List steps;
    for (const Rcpp::IntegerVector& set : sets) {
      networks::SoftBlocks soft(links, link_model, ListFields(model).number("gamma"), k, rows_from_r(prob));
      soft.step(nodes_from_r(set, links.n()), 1);
      steps.push_back(tables(soft));
    }
    return Rcpp::List::create(_["exact"] = tables(start), _["steps"] = steps);
  });
}

const testing::Entry entries[] = {
    {"engine_network_joint", {"data", "model", "labels"}, engine_network_joint},
    {"engine_network_changes", {"data", "model", "labels", "changes", "seed"}, engine_network_changes},
    {"engine_network_together", {"data", "model", "labels", "splits"}, engine_network_together},
    {"engine_network_soft", {"data", "model", "prob", "laps"}, engine_network_soft},
    {"engine_network_soft_steps", {"data", "model", "prob", "sets"}, engine_network_soft_steps},
};

}  // namespace
