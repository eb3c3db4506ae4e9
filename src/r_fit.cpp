// The entry that learns a fit, of every family.
#include <cmath>
#include <map>
#include <optional>

#include "r_checkpoint.h"
#include "r_family.h"
#include "testing/audit.h"
#include "testing/breaking_observer.h"

using namespace bnpvi;

namespace {

// By model$family, without which a model is one of clusters.
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

Rcpp::NumericVector audit_to_r(const testing::Audit& audit) {
  using Rcpp::_;
  return Rcpp::NumericVector::create(
      _["checks"] = static_cast<double>(audit.checks), _["elbo"] = audit.elbo,
      _["statistics"] = audit.statistics, _["entropy"] = audit.entropy, _["sums"] = audit.sums,
      _["smallest_gain"] = audit.smallest_gain, _["moves"] = static_cast<double>(audit.moves),
      _["rounds"] = static_cast<double>(audit.rounds), _["foreseen"] = static_cast<double>(audit.n_foreseen),
      _["gain"] = audit.gain, _["weights"] = static_cast<double>(audit.weights));
}

}  // namespace

// [[Rcpp::export]]
Rcpp::List engine_fit(Rcpp::List data, Rcpp::List model, Rcpp::List control, SEXP start, SEXP progress) {
  return entry([&] {
    const ListFields c(control);
    RestartOptions options;
    read_run(c, options);
    if (!Rf_isNull(start)) options.restarts = 1;
    RMonitor monitor(Rcpp::Nullable<Rcpp::Function>(progress), options.keep_interrupted);
    RPool pool(c.integer("threads"), monitor);
    std::optional<testing::Audit> audit;
    if (c.optional_flag("audit")) audit.emplace();
    std::optional<testing::BreakingObserver> breaking;
    if (c.has("break_at")) breaking.emplace(c.integer("break_at"));
    Observer& observer = audit ? *audit : breaking ? static_cast<Observer&>(*breaking) : nobody;
    const auto family = family_of({data, model, control, start, pool, observer});
    const Maker maker{[&](std::uint64_t seed) { return family->begin(seed); },
                      [&](std::uint64_t seed, Reader& in) { return family->read(seed, in); }};
    Checkpoints checkpoints(control);
    const Restarted run = drive_restarts(maker, options, pool, checkpoints, checkpoints.stored());
    using Rcpp::_;
    if (!std::isfinite(run.best.course.objective))
      return Rcpp::List::create(_["elbo"] = run.best.course.objective);
    Rcpp::List out = family->result(run);
    return made_in_r([&] {
      add_run(run, out);
      if (pool.n_threads() < c.integer("threads"))
        out.push_back(static_cast<int>(pool.n_threads()), "threads");
      if (audit) out.push_back(audit_to_r(*audit), "audit");
      if (!Rf_isNull(checkpoints.kept())) out.push_back(checkpoints.kept(), "progress");
      return out;
    });
  });
}
