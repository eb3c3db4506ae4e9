// Entries that join the clusters of a fit, pair by pair.
#include "inference/joins/coarsening.h"
#include "r_convert.h"
#include "r_topics.h"

using namespace bnpvi;

namespace {

// A fit, with all of its data as one batch.
struct Tree {
  Tree(const Rcpp::List& data, const Rcpp::List& model, const Rcpp::List& start, const Rcpp::List& control)
      : query(data, model, start["state"], Rcpp::as<int>(control["threads"]),
              {Rcpp::as<int>(control["sparsity"]), Rcpp::as<int>(control["candidates"])}),
        source(query.data(), {counted_units(query.data(), query.model)}),
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
    Tree fit(data, model, start, control);
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
                                Rcpp::IntegerVector a, Rcpp::IntegerVector b) {
  return entry([&] {
    Tree fit(data, model, start, control);
    Coarsening& clusters = fit.clusters;
    require(a.size() == b.size(), "a and b are not pairs");
    for (R_xlen_t i = 0; i < a.size(); ++i) {
      const auto is_left = [&](int id) {
        return id >= 1 && id <= fit.query.k() && clusters.number(id - 1) >= 0;
      };
      require(is_left(a[i]) && is_left(b[i]) && a[i] != b[i], "a or b has a number that is no cluster");
      require(clusters.state().total.may_join(clusters.number(a[i] - 1), clusters.number(b[i] - 1)),
              "a and b have clusters of different classes");
      clusters.join(a[i] - 1, b[i] - 1);
    }
    const State& state = clusters.state();
    std::vector<int> left;
    for (Index j = 0; j < state.k(); ++j) left.push_back(static_cast<int>(clusters.id(j)) + 1);
    using Rcpp::_;
    Rcpp::List out =
        Rcpp::List::create(_["state"] = state_to_r(state.globals), _["elbo"] = state.elbo,
                           _["terms"] = terms_to_r(elbo_terms(fit.problem, state.total, state.globals)),
                           _["left"] = left, _["sizes"] = state.total.sizes());
    const Rcpp::RObject documents = document_counts_to_r(state, fit.source);
    if (!documents.isNULL()) out.push_back(documents, "documents");
    return out;
  });
}
