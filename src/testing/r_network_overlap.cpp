// Entries for tests: laps, stochastic steps and changes of overlapping communities.
#include "r_network_overlap.h"
#include "networks/gamma_network.h"
#include "networks/relational.h"
#include "r_testing_entries.h"

using namespace bnpvi;
using Rcpp::_;

namespace {

// The bound before and after each of `laps` laps that start from shares of the nodes, and the final state.
// `sticks`: NULL, or list(u, omega) to be used instead of the optimal sticks (in models without degrees).
Rcpp::List engine_network_laps(Rcpp::List data, Rcpp::List model, Rcpp::NumericMatrix share, int laps,
                               SEXP sticks) {
  return entry([&] {
    const Links links = links_from_r(data);
    const OverlapModel overlap(model);
    std::unique_ptr<networks::Overlap> state = overlap.start(links, share);
    const auto hold = [&] {
      if (sticks == R_NilValue) return;
      const Rcpp::List held(sticks);
      auto* relational = dynamic_cast<networks::Relational*>(state.get());
      require(relational, "sticks can be held where there are no degrees");
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

// For each set of nodes, numbered from 1: the estimates of a stochastic step with this rate, and the state
// after it, starting where `laps` laps end.
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

// Changes of a gamma network that visit a few nodes only, one after the other, starting where `laps` laps
// end. For each change: the gain it reported, the bound before and after, the bound with all sums
// recomputed, and the state. changes: list(kind, a, b, leaves, share, least) with kind "split", "merge",
// "divide" or "drop", numbers from 1. `anew`: continue from the recomputed sums, else from the updated ones.
Rcpp::List engine_network_local(Rcpp::List data, Rcpp::List model, Rcpp::NumericMatrix share, int laps,
                                Rcpp::List changes, bool anew) {
  return entry([&] {
    const Links links = links_from_r(data);
    const OverlapModel overlap(model);
    std::unique_ptr<networks::Overlap> state = overlap.start(links, share);
    auto* gamma = dynamic_cast<networks::GammaNetwork*>(state.get());
    require(gamma, "only models with degrees have changes of a few nodes");
    for (int lap = 0; lap < laps; ++lap) state->lap();
    Rcpp::List out;
    for (SEXP each : changes) {
      const Rcpp::List change(each);
      const ListFields fields(change);
      const std::string kind = Rcpp::as<std::string>(change["kind"]);
      const Index a = fields.integer("a") - 1;
      const double least = fields.number("least"), before = state->bound();
      double said = 0;
      require(a >= 0 && a < state->k(), "there is no such community");
      if (kind == "split" || kind == "divide") {
        const std::vector<int> leaves = nodes_from_r(change["leaves"], links.n());
        const double share = fields.number("share");
        said = kind == "split" ? gamma->split_here({a, leaves}, share, least)
                               : gamma->divide_here(a, fields.integer("b") - 1, leaves, share, least);
      }
      if (kind == "merge") said = gamma->merge_here(a, fields.integer("b") - 1, least);
      if (kind == "drop") said = gamma->drop_here(a, least);
      const double after = state->bound();
      networks::GammaNetwork fresh = *gamma;
      fresh.refresh();
      Rcpp::List end = overlap_to_r(anew ? fresh : *gamma);
      end["said"] = said;
      end["before"] = before;
      end["after"] = after;
      end["anew"] = fresh.bound();
      if (anew) *gamma = std::move(fresh);
      out.push_back(end);
    }
    return out;
  });
}

const testing::Entry entries[] = {
    {"engine_network_laps", {"data", "model", "share", "laps", "sticks"}, engine_network_laps},
    {"engine_network_steps", {"data", "model", "share", "laps", "sets", "rate"}, engine_network_steps},
    {"engine_network_local", {"data", "model", "share", "laps", "changes", "anew"}, engine_network_local},
};

}  // namespace
