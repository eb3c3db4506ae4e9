// Switching linear dynamical systems (obs_lds): their fits, and other entries.
#include "r_lds.h"

#include <cmath>

#include "dynamics/start_lds.h"
#include "inference/learn/archived.h"
#include "r_family.h"

using namespace bnpvi;
using namespace bnpvi::dynamics;

namespace {

LdsState given_start(const Lds& lds, const Rcpp::List& start, const std::shared_ptr<const AllocModel>& alloc,
                     const LatentPaths& before) {
  const LdsProblem& problem = lds.problem;
  const Series& s = lds.series;
  const Rcpp::NumericMatrix resp(static_cast<SEXP>(start["resp"]));
  const Index k = resp.ncol();
  require(alloc->fixed_k() == 0 || k == alloc->fixed_k(), "start$resp has not a column for each mode");
  Vec r = row_major(resp, s.n, k, "start$resp");
  if (!problem.by_mode()) without_first_rows(s, k, r);
  LatentPaths paths = before;
  if (start.containsElementNamed("mean")) {
    paths.mean =
        row_major(Rcpp::NumericMatrix(static_cast<SEXP>(start["mean"])), s.n, problem.m, "start$mean");
    paths.var =
        row_major(Rcpp::NumericMatrix(static_cast<SEXP>(start["var"])), s.n, paths.n_var(), "start$var");
    for (Index g = 0; g < s.n_groups(); ++g)
      for (Index t = s.starts[g]; t < s.starts[g + 1]; ++t) {
        paths.see_row(t, s.y_of(t), problem.emission);
        if (t > s.starts[g]) paths.set_features(t, s.known_of(t), nullptr);
      }
  }
  LdsState out = state_of(problem, alloc, std::move(paths), std::move(r), k);
  if (!start.containsElementNamed("state")) return out;
  const Rcpp::List state = start["state"];
  out.globals = state_from_r(state, lds.model);
  out.emission = emissions_at(problem, seen_from_r(state, problem.emission), out.globals.effective);
  for (int step = 0; step < 2; ++step) {
    smooth(problem, out, nullptr);
    assign(problem, out);
  }
  out.seen = emission_of(problem, out.paths);
  renew(problem, out);
  return out;
}

// The allocation model as a shared pointer that does not own it; `model` must outlive it.
std::shared_ptr<const AllocModel> lent(const RModel& model) {
  return {std::shared_ptr<void>(), model.alloc.get()};
}

class Systems final : public RFamily {
 public:
  explicit Systems(const FitCall& call)
      : call_(call),
        lds_(call.data, call.model, call.pool, call.observer),
        search_(with_tight_bound(call.model)),
        options_(learn_options(call.control)),
        start_(start_policy()) {}

  Learned begin(const Start& start) override {
    const std::uint64_t seed = start.seed;
    if (Rf_isNull(call_.start)) {
      LdsStart policy = start_;
      policy.k = asked_start(ListFields(call_.control), start).k;
      return begin_lds(problem_of(seed), policy, options_);
    }
    LdsState given = given_start(lds_, Rcpp::List(call_.start), start_.alloc, start_.before);
    return {std::make_unique<LdsFit>(problem_of(seed), std::move(given), options_), {}};
  }

  std::unique_ptr<Fit> read(const Start& start, Reader& in) override {
    const auto own = std::make_shared<const RModel>(call_.model, Sparsity(), read_arrays(in));
    return std::make_unique<LdsFit>(problem_of(start.seed),
                                    std::shared_ptr<const AllocModel>(own, own->alloc.get()), in, options_);
  }

  Rcpp::List result(const Restarted& run) override {
    const LdsState& state = static_cast<const LdsFit&>(*run.best.fit).state();
    using Rcpp::_;
    return made_in_r([&] {
      Rcpp::List out =
          Rcpp::List::create(_["state"] = state_with_emission(state, lds_.problem.emission),
                             _["elbo"] = state.elbo, _["terms"] = terms_to_r(state.terms),
                             _["sizes"] = state.total.sizes(), _["paths"] = paths_to_r(lds_, state));
      const NamedArrays concentrations = concentrations_of(*state.alloc).learned_fields();
      if (!concentrations.empty()) out.push_back(arrays_to_r(concentrations), "concentrations");
      return out;
    });
  }

 private:
  static Rcpp::List with_tight_bound(const Rcpp::List& model) {
    Rcpp::List out = Rcpp::clone(model);
    out["bound"] = "tight";
    return out;
  }

  LdsProblem problem_of(std::uint64_t seed) const {
    LdsProblem out = lds_.problem;
    out.seed = seed;
    return out;
  }

  LdsStart start_policy() const {
    const ListFields c(call_.control);
    const LatentPaths at_rows =
        paths_at(lds_.problem, row_major(Rcpp::NumericMatrix(static_cast<SEXP>(call_.data["rows"])),
                                         lds_.series.n, lds_.problem.m, "data$rows"));
    const std::string init = c.text("init");
    return {init == "one"    ? LdsStart::Way::one
            : init == "rows" ? LdsStart::Way::rows
                             : LdsStart::Way::best,
            lent(lds_.model),
            lent(search_),
            *lds_.rows,
            at_rows,
            lds_.problem.emission.identity ? prior_paths(lds_.problem) : at_rows,
            c.integer("k_init")};
  }

  const FitCall call_;
  const Lds lds_;
  const RModel search_;  // with the bound under which the start searches for modes
  const LearnOptions options_;
  const LdsStart start_;
};

}  // namespace

std::unique_ptr<RFamily> bnpvi::family_of_systems(const FitCall& call) {
  return std::make_unique<Systems>(call);
}

// [[Rcpp::export]]
Rcpp::List engine_lds_emission(Rcpp::List data, Rcpp::List model, Rcpp::List state) {
  return entry([&] {
    LonePool lone;
    const Lds lds(data, model, lone.pool);
    const EmissionPrior& prior = lds.problem.emission;
    return emission_to_r(
        emissions_at(lds.problem, seen_from_r(state, prior), state_from_r(state, lds.model).effective),
        prior);
  });
}

// q(x) and q(z) of new sequences at the globals of a fit. Alternates x- and z-steps until a round gains less
// than 1e-6 for each row, starting once from states near the rows and once from states smoothed by the
// average mode; the better result is kept.
// [[Rcpp::export]]
Rcpp::List engine_lds_smooth(Rcpp::List data, Rcpp::List model, Rcpp::List state, int threads) {
  return entry([&] {
    LonePool lone(threads);
    Lds lds(data, model, lone.pool);
    const LdsProblem& problem = lds.problem;
    const std::shared_ptr<const AllocModel> alloc(std::shared_ptr<void>(), lds.model.alloc.get());
    const Globals globals = state_from_r(state, lds.model);
    const Index k = globals.effective.k, n = lds.series.n;
    const EmissionStatistics seen = seen_from_r(state, problem.emission);
    const Vec sizes = globals.effective.sizes();
    double all = 0;
    for (double size : sizes) all += size;
    const auto begin = [&](LatentPaths paths) {
      Vec r(static_cast<std::size_t>(n * k));
      for (Index t = 0; t < n; ++t)
        for (Index j = 0; j < k; ++j) r[t * k + j] = all > 0 ? sizes[j] / all : 1 / static_cast<double>(k);
      if (!problem.by_mode()) without_first_rows(lds.series, k, r);
      LdsState out{
          alloc, std::move(paths), k,  std::move(r), seen, emissions_at(problem, seen, globals.effective),
          {},    globals,          {}, {},           0};
      out.total = Summary(alloc->shape(problem.obs), k);
      return out;
    };
    const auto round = [&](LdsState& s) {
      assign(problem, s);
      smooth(problem, s, nullptr);
      assign(problem, s);
      s.seen = emission_of(problem, s.paths);
      const Dataset view = expected_rows(problem, s);
      const MemorySource source(view, {problem.units});
      const Problem modes{source, problem.obs, *alloc, 0, nobody, &lone.pool};
      s.elbo = sum_terms(elbo_terms(modes, s.total, s.globals));
      if (!problem.by_mode()) s.elbo += s.emission[0].expected(s.seen);
      for (Index g = 0; g < lds.series.n_groups(); ++g)
        s.elbo += lds.series.weight[g] * (s.paths.start[g] + s.paths.entropy[g]);
    };
    const auto settle = [&](LdsState& s) {
      for (int i = 0; i < 100; ++i) {
        const double before = s.elbo;
        round(s);
        if (i > 0 && s.elbo - before < 1e-6 * static_cast<double>(n)) return;
      }
    };
    LdsState smoothed = begin(LatentPaths(lds.series, problem.emission));
    smooth(problem, smoothed, nullptr);
    settle(smoothed);
    LdsState at_rows = begin(paths_at(
        problem, row_major(Rcpp::NumericMatrix(static_cast<SEXP>(data["rows"])), n, problem.m, "data$rows")));
    settle(at_rows);
    const LdsState& best = at_rows.elbo > smoothed.elbo ? at_rows : smoothed;
    return made_in_r([&] { return paths_to_r(lds, best); });
  });
}
