// Entries for tests: effects of covariates in another order of clusters, and of one topic.
#include "inference/moves/near_order.h"
#include "mixtures/mixture.h"
#include "r_convert.h"
#include "r_testing_entries.h"
#include "topics/model/topic_tilt.h"

using namespace bnpvi;

namespace {

// The posterior arrays of the allocation model, and the mean weights, at near_order() for this order (from
// 1).
Rcpp::List engine_near_order(Rcpp::List model, Rcpp::List state, Rcpp::IntegerVector order) {
  return entry([&] {
    const RModel rmodel(model);
    Globals globals = state_from_r(state, rmodel);
    std::vector<Index> to;
    for (int j : order) to.push_back(j - 1);
    Globals near = near_order(*rmodel.alloc, globals, to);
    near.effective = std::move(globals.effective);
    near.effective.permute(to);
    NamedArrays out = rmodel.alloc->posterior(near);
    const Vec weights = rmodel.alloc->mean_weights(near);
    out.push_back({"weights", weights, {static_cast<Index>(weights.size())}});
    return arrays_to_r(out);
  });
}

// The posterior arrays of a mixture whose weights depend on covariates where its search begins in this order
// (from 1), and after the second of two clusters (from 1) has joined the first.
Rcpp::List engine_moved_search(Rcpp::List model, Rcpp::List state, Rcpp::IntegerVector order,
                               Rcpp::IntegerVector pair) {
  return entry([&] {
    const RModel rmodel(model);
    Globals globals = state_from_r(state, rmodel);
    const auto& alloc = static_cast<const mixtures::MixtureAlloc&>(*rmodel.alloc);
    std::vector<Index> to;
    for (int j : order) to.push_back(j - 1);
    const Vec joined = alloc.joined_search(globals.u, pair[0] - 1, pair[1] - 1);
    Globals moved = globals;
    moved.u = alloc.search_in_order(globals.u, to);
    moved.effective.permute(to);
    globals.u = joined;
    globals.effective.merge(pair[0] - 1, pair[1] - 1);
    const auto arrays = [&](const Globals& at) { return arrays_to_r(alloc.posterior(at)); };
    return made_in_r([&] {
      return Rcpp::List::create(Rcpp::_["order"] = arrays(moved), Rcpp::_["joined"] = arrays(globals));
    });
  });
}

// The part of the bound of one topic (TopicPart), less KL, at an effect with this mean (P) and precision
// (packed), and its quadratic model there; `best`: the best mean at this precision. x: C × P; n, f, users,
// slope: C each; at: E π_k and Var π_k.
Rcpp::List engine_topic_part(Rcpp::NumericMatrix x, Rcpp::List documents, double alpha,
                             Rcpp::NumericVector effect, Rcpp::NumericVector at) {
  return entry([&] {
    const auto vec = [](SEXP v) { return Rcpp::as<Vec>(v); };
    topics::TopicTilt tilt;
    tilt.patterns = x.nrow();
    tilt.columns = x.ncol();
    tilt.alpha = alpha;
    for (int c = 0; c < x.nrow(); ++c)
      for (int i = 0; i < x.ncol(); ++i) tilt.x.push_back(x(c, i));
    const Vec n = vec(documents["n"]), f = vec(documents["f"]);
    const topics::TopicCounts counts{vec(documents["users"]), vec(documents["slope"])};
    const topics::TopicPart part(tilt, n, f);
    const topics::TopicEffect here(tilt, effect.begin());
    const topics::TopicModel model = part.model(counts, here, at[0], at[1]);
    const topics::TopicEffect best =
        part.with_best_mean(counts, here, part.choose(here, at[0], at[1]), at[0], at[1]);
    const topics::TopicEffect moved = part.moved(here, model, model.log_mean + 0.01);
    using Rcpp::_;
    return made_in_r([&] {
      return Rcpp::List::create(_["value"] = model.value.value(), _["slope"] = model.slope,
                                _["curvature"] = model.curvature, _["step"] = model.step,
                                _["follow"] = model.follow, _["best"] = best.mean(),
                                _["moved"] = moved.mean());
    });
  });
}

const testing::Entry entries[] = {
    {"engine_near_order", {"model", "state", "order"}, engine_near_order},
    {"engine_moved_search", {"model", "state", "order", "pair"}, engine_moved_search},
    {"engine_topic_part", {"x", "documents", "alpha", "effect", "at"}, engine_topic_part},
};

}  // namespace
