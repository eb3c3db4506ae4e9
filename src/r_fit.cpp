// The entry that learns a fit, of every family.
#include <cmath>
#include <map>

#include "r_checkpoint.h"
#include "r_family.h"
#include "r_testing.h"

using namespace bnpvi;

namespace {

// The family named by model$family; without this field, clusters.
std::unique_ptr<RFamily> family_of(const FitCall& call) {
  static const std::map<std::string, std::unique_ptr<RFamily> (*)(const FitCall&)> makers{
      {"clusters", family_of_clusters},
      {"features", family_of_features},
      {"systems", family_of_systems},
      {"blocks", family_of_blocks},
      {"communities", family_of_communities}};
  const ListFields model(call.model);
  const auto found = makers.find(model.has("family") ? model.text("family") : "clusters");
  require(found != makers.end(), "there is no such family");
  return found->second(call);
}

}  // namespace

// [[Rcpp::export]]
Rcpp::List engine_fit(Rcpp::List data, Rcpp::List model, Rcpp::List control, SEXP start, SEXP progress) {
  return entry([&] {
    const ListFields c(control);
    RestartOptions options;
    read_run(c, options);
    if (!Rf_isNull(start)) {
      options.restarts = 1;
      options.kinds.clear();
    }
    RMonitor monitor(Rcpp::Nullable<Rcpp::Function>(progress), options.keep_interrupted);
    RPool pool(c.integer("threads"), monitor);
    const std::unique_ptr<FitWatch> watch = test_hooks().watch ? test_hooks().watch(c) : nullptr;
    Observer& observer = watch ? watch->observer() : nobody;
    const auto family = family_of({data, model, control, start, pool, observer});
    Maker maker{[&](const Start& at) { return family->begin(at); },
                [&](const Start& at, Reader& in) { return family->read(at, in); }};
    if (family->alters())
      maker.alter = [&](const Start& at, const Fit& best) { return family->alter(at, best); };
    Checkpoints checkpoints(control);
    const Restarted run = drive_restarts(maker, options, pool, checkpoints, checkpoints.stored());
    using Rcpp::_;
    if (!std::isfinite(run.best.course.objective))
      return Rcpp::List::create(_["elbo"] = run.best.course.objective);
    Rcpp::List out = family->result(run);
    return made_in_r([&] {
      add_run(run, c, out);
      if (pool.n_threads() < c.integer("threads"))
        out.push_back(static_cast<int>(pool.n_threads()), "threads");
      if (watch) watch->report(out);
      if (!Rf_isNull(checkpoints.kept())) out.push_back(checkpoints.kept(), "progress");
      return out;
    });
  });
}
