// Overlapping communities of networks: their fits, and other entries.
#include "networks/assortative_blocks.h"
#include "networks/gamma_network.h"
#include "networks/general_blocks.h"
#include "networks/learn_overlap.h"
#include "networks/profile.h"
#include "r_network.h"

using namespace bnpvi;

using Rcpp::_;

namespace {

// Overlapping communities of a list(degree, assortative, gamma, alpha, counts, a, b, a_background,
// b_background, dense), from
// shares of the nodes (n × K). The link models must outlive the state.
struct OverlapModel {
  explicit OverlapModel(const Rcpp::List& model)
      : fields(model),
        blocks(fields.flag("counts"), fields.number("a"), fields.number("b")),
        background(fields.flag("counts"), fields.number("a_background"), fields.number("b_background")) {}
  std::unique_ptr<networks::Overlap> start(const Links& links, const Rcpp::NumericMatrix& share) const {
    if (fields.flag("degree")) return with_degrees(links, share);
    return without_degrees(links, share);
  }
  std::unique_ptr<networks::GammaNetwork> with_degrees(const Links& links,
                                                       const Rcpp::NumericMatrix& share) const {
    require(fields.flag("degree"), "only models with degrees have changes of a few nodes");
    const networks::GammaPriors priors{gamma(),
                                       alpha(),
                                       blocks.a(),
                                       blocks.b(),
                                       background.a(),
                                       background.b(),
                                       fields.flag("counts"),
                                       fields.number("dense")};
    return std::make_unique<networks::GammaNetwork>(links, priors, share.ncol(), rows_of(links, share));
  }
  std::unique_ptr<networks::Relational> without_degrees(const Links& links,
                                                        const Rcpp::NumericMatrix& share) const {
    require(!fields.flag("degree"), "sticks can be held where there are no degrees");
    if (fields.flag("assortative"))
      return std::make_unique<networks::AssortativeBlocks>(links, blocks, background, gamma(), alpha(),
                                                           share.ncol(), rows_of(links, share));
    return std::make_unique<networks::GeneralBlocks>(links, blocks, gamma(), alpha(), share.ncol(),
                                                     rows_of(links, share));
  }
  static Vec rows_of(const Links& links, const Rcpp::NumericMatrix& share) {
    require(share.nrow() == links.n() && share.ncol() > 0, "there is not a row for each node");
    return rows_from_r(share);
  }
  double gamma() const { return fields.number("gamma"); }
  double alpha() const { return fields.number("alpha"); }
  ListFields fields;
  LinkModel blocks, background;
};

Rcpp::NumericVector named_terms(const networks::Overlap& state) {
  Rcpp::NumericVector out;
  for (const auto& [name, value] : state.terms()) out.push_back(value, name);
  return out;
}

Rcpp::List overlap_to_r(const networks::Overlap& state) {
  const Index n = state.links().n(), k = state.k();
  Vec prob, ends(static_cast<std::size_t>(n * k));
  for (Index i = 0; i < n; ++i) {
    const Vec row = state.proportions(i);
    prob.insert(prob.end(), row.begin(), row.end());
    for (const networks::Ends& end : state.ends(i)) ends[i * k + end.k] = end.value;
  }
  Rcpp::List params;
  for (const auto& array : state.arrays())
    params.push_back(
        matrix_to_r(array.value, static_cast<Index>(array.value.size()) / array.columns, array.columns),
        array.name);
  const WeightMoments pi = weight_moments(state.sticks());
  return Rcpp::List::create(
      _["k"] = k, _["prob"] = matrix_to_r(prob, n, k), _["ends"] = matrix_to_r(ends, n, k),
      _["rates"] = state.rates(), _["weights"] = pi.mean, _["u"] = state.sticks().u,
      _["omega"] = state.sticks().omega, _["params"] = params, _["terms"] = named_terms(state));
}

// From shares of the nodes (n × K) on.
class OverlapFamily final : public NetworkFamily {
 public:
  explicit OverlapFamily(const FitCall& call) : NetworkFamily(call), model_(call.model) {}

  Rcpp::List result(const Restarted& run) override {
    const networks::Overlap& state = stochastic()
                                         ? static_cast<const networks::SampledOverlap&>(*run.best.fit).state()
                                         : static_cast<const networks::OverlapFit&>(*run.best.fit).state();
    return made_in_r([&] {
      Rcpp::List out = overlap_to_r(state);
      out.push_back(state.bound(), "elbo");
      return out;
    });
  }

 private:
  std::unique_ptr<networks::NetworkFit> fit_from(SEXP given, std::uint64_t seed) const override {
    std::unique_ptr<networks::Overlap> start = model_.start(links_, Rcpp::NumericMatrix(given));
    if (stochastic())
      return std::make_unique<networks::SampledOverlap>(std::move(start), sampled(seed), call_.pool);
    auto options = searched<networks::OverlapOptions>(seed);
    options.reorder = asked_.moves.reorder;
    options.disturbances = fields_.integer("disturbances");
    options.large = fields_.number("large");
    return std::make_unique<networks::OverlapFit>(std::move(start), options, call_.pool);
  }

  const OverlapModel model_;
};

}  // namespace

std::unique_ptr<RFamily> bnpvi::family_of_communities(const FitCall& call) {
  return std::make_unique<OverlapFamily>(call);
}

// The bound before and after each of `laps` laps from shares of the nodes, and the state in the end;
// `sticks`: NULL, or list(u, omega) in place of the sticks found (of models without degrees; for tests).
// [[Rcpp::export]]
Rcpp::List engine_network_laps(Rcpp::List data, Rcpp::List model, Rcpp::NumericMatrix share, int laps,
                               SEXP sticks) {
  return entry([&] {
    const Links links = links_from_r(data);
    const OverlapModel overlap(model);
    const std::unique_ptr<networks::Relational> relational =
        sticks == R_NilValue ? nullptr : overlap.without_degrees(links, share);
    const std::unique_ptr<networks::Overlap> own = relational ? nullptr : overlap.start(links, share);
    networks::Overlap* state = relational ? relational.get() : own.get();
    const auto hold = [&] {
      if (!relational) return;
      const Rcpp::List held(sticks);
      relational->hold_sticks({Rcpp::as<Vec>(held["u"]), Rcpp::as<Vec>(held["omega"])});
    };
    hold();
    Rcpp::NumericVector bound;
    for (int lap = 0; lap <= laps; ++lap) {
      if (lap > 0) {
        state->lap();
        hold();
      }
      bound.push_back(state->bound());
    }
    Rcpp::List out = overlap_to_r(*state);
    out["bound"] = bound;
    return out;
  });
}

// For each set of nodes, numbered from 1: what a step of stochastic learning with this rate finds and makes
// of where `laps` laps end (for tests).
// [[Rcpp::export]]
Rcpp::List engine_network_steps(Rcpp::List data, Rcpp::List model, Rcpp::NumericMatrix share, int laps,
                                std::vector<Rcpp::IntegerVector> sets, double rate) {
  return entry([&] {
    const Links links = links_from_r(data);
    const OverlapModel overlap(model);
    const std::unique_ptr<networks::Overlap> state = overlap.start(links, share);
    for (int lap = 0; lap < laps; ++lap) state->lap();
    Rcpp::List out;
    for (const Rcpp::IntegerVector& set : sets) {
      const std::unique_ptr<networks::Overlap> next = state->copy();
      next->capabilities().steps->step(nodes_from_r(set, links.n()), rate);
      out.push_back(overlap_to_r(*next));
    }
    return out;
  });
}

// Changes of a gamma network that visit a few nodes, one after the other, from where `laps` laps end: of each
// the gain it said, the bound before and after, the bound once all sums are made anew, and the state after it
// (for tests). changes: list(kind, a, b, leaves, share, least) of "split", "merge", "divide" and "drop",
// numbers from 1. `anew`: go on from the sums made anew, or from those kept.
// [[Rcpp::export]]
Rcpp::List engine_network_local(Rcpp::List data, Rcpp::List model, Rcpp::NumericMatrix share, int laps,
                                Rcpp::List changes, bool anew) {
  return entry([&] {
    const Links links = links_from_r(data);
    const OverlapModel overlap(model);
    const std::unique_ptr<networks::GammaNetwork> state = overlap.with_degrees(links, share);
    for (int lap = 0; lap < laps; ++lap) state->lap();
    Rcpp::List out;
    for (const Rcpp::List change : changes) {
      const ListFields fields(change);
      const std::string kind = Rcpp::as<std::string>(change["kind"]);
      const Index a = fields.integer("a") - 1;
      const double least = fields.number("least"), before = state->bound();
      double said = 0;
      require(a >= 0 && a < state->k(), "there is no such community");
      if (kind == "split" || kind == "divide") {
        const std::vector<int> leaves = nodes_from_r(change["leaves"], links.n());
        const double share = fields.number("share");
        said = kind == "split" ? state->split_here({a, leaves}, share, least)
                               : state->divide_here(a, fields.integer("b") - 1, leaves, share, least);
      }
      if (kind == "merge") said = state->merge_here(a, fields.integer("b") - 1, least);
      if (kind == "drop") said = state->drop_here(a, least);
      const double after = state->bound();
      networks::GammaNetwork fresh = *state;
      fresh.refresh();
      Rcpp::List end = overlap_to_r(anew ? fresh : *state);
      end["said"] = said;
      end["before"] = before;
      end["after"] = after;
      end["anew"] = fresh.bound();
      if (anew) *state = std::move(fresh);
      out.push_back(end);
    }
    return out;
  });
}

// best_profile() from rho.
// [[Rcpp::export]]
Rcpp::NumericVector engine_network_profile(double n0, Rcpp::NumericVector g, Rcpp::NumericVector e,
                                           Rcpp::NumericVector p, Rcpp::NumericVector rho) {
  require(g.size() == rho.size() && e.size() == rho.size() && p.size() == rho.size(),
          "a profile has not one number of each kind for each community");
  Vec out(rho.begin(), rho.end());
  networks::best_profile(n0, g.begin(), e.begin(), p.begin(), rho.size(), out.data());
  return Rcpp::wrap(out);
}
