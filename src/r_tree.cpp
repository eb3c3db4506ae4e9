// Entries that join the clusters of a fit.
#include <numeric>

#include "inference/coarsening.h"
#include "r_convert.h"
#include "r_topics.h"

using namespace bnpvi;

namespace {

// A fit and all of its data as one batch.
struct Fit {
  Fit(const Rcpp::List& data, const Rcpp::List& model, const Rcpp::List& start, const Rcpp::List& control)
      : query(data, model, start["state"], Rcpp::as<int>(control["threads"]),
              {Rcpp::as<int>(control["sparsity"]), Rcpp::as<int>(control["candidates"])}),
        source(query.data(), {all_units(query.data(), query.model)}),
        problem{source, query.obs(), *query.model.alloc, 0, nobody, &query.pool},
        clusters(problem, query.globals,
                 start.containsElementNamed("documents") ? documents_from_r(start["documents"], source)
                                                         : std::vector<std::shared_ptr<const UnitMemory>>(),
                 query.pool) {}

  Query query;
  const MemorySource source;
  const Problem problem;
  Coarsening clusters;
};

}  // namespace

// [[Rcpp::export]]
Rcpp::List engine_cluster_tree(Rcpp::List data, Rcpp::List model, Rcpp::List start, Rcpp::List control) {
  return entry([&] {
    Fit fit(data, model, start, control);
    Vec elbo{fit.clusters.state().elbo};
    std::vector<int> a, b;
    for (const Join& join : join_all(fit.clusters)) {
      a.push_back(static_cast<int>(join.a) + 1);
      b.push_back(static_cast<int>(join.b) + 1);
      elbo.push_back(join.elbo);
    }
    using Rcpp::_;
    return Rcpp::List::create(_["a"] = a, _["b"] = b, _["elbo"] = elbo);
  });
}

// [[Rcpp::export]]
Rcpp::List engine_join_clusters(Rcpp::List data, Rcpp::List model, Rcpp::List start, Rcpp::List control,
                                Rcpp::IntegerVector group) {
  return entry([&] {
    Fit fit(data, model, start, control);
    Coarsening& clusters = fit.clusters;
    require(group.size() == fit.query.k(), "group has not a number for each cluster");
    std::vector<Index> kept(static_cast<std::size_t>(group.size()),
                            -1);  // by group: the identity that is left
    for (Index id = 0; id < group.size(); ++id) {
      require(group[id] >= 1 && group[id] <= group.size(), "group has a number that is none");
      Index& in = kept[group[id] - 1];
      in = in < 0 ? id : clusters.join(in, id);
    }
    const State& state = clusters.state();
    std::vector<int> order;
    for (Index j = 0; j < state.k(); ++j) order.push_back(group[clusters.id(j)]);
    using Rcpp::_;
    Rcpp::List out =
        Rcpp::List::create(_["state"] = state_to_r(state.globals), _["elbo"] = state.elbo,
                           _["terms"] = terms_to_r(elbo_terms(fit.problem, state.total, state.globals)),
                           _["group"] = order, _["sizes"] = state.total.sizes());
    const Rcpp::RObject documents = document_counts_to_r(state, fit.source);
    if (!documents.isNULL()) out.push_back(documents, "documents");
    return out;
  });
}
