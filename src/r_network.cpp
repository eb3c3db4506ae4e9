// Entries of networks.
#include <chrono>
#include <numeric>

#include "networks/gamma_network.h"
#include "networks/learn_blocks.h"
#include "networks/learn_overlap.h"
#include "networks/profile.h"
#include "networks/relational.h"
#include "r_convert.h"

using namespace bnpvi;
using networks::BlockBound;
using networks::LinkModel;
using networks::Links;

namespace {

using Rcpp::_;

// list(n, directed, from, to, value, hidden_from, hidden_to), nodes from 1.
Links links_from_r(const Rcpp::List& data) {
  const auto nodes = [&](const char* name) {
    std::vector<int> out = Rcpp::as<std::vector<int>>(data[name]);
    for (int& i : out) --i;
    return out;
  };
  return Links(Rcpp::as<int>(data["n"]), Rcpp::as<bool>(data["directed"]), nodes("from"), nodes("to"),
               Rcpp::as<Vec>(data["value"]), nodes("hidden_from"), nodes("hidden_to"));
}

LinkModel link_model_from_r(const Rcpp::List& model) {
  const ListFields fields(model);
  return LinkModel(fields.flag("counts"), fields.number("a"), fields.number("b"));
}

// n × k of row-major numbers.
Rcpp::NumericMatrix matrix_to_r(const Vec& x, Index n, Index k) {
  Rcpp::NumericMatrix out(static_cast<int>(n), static_cast<int>(k));
  for (int i = 0; i < out.nrow(); ++i)
    for (int a = 0; a < out.ncol(); ++a) out(i, a) = x[static_cast<std::size_t>(i) * out.ncol() + a];
  return out;
}

Vec rows_from_r(const Rcpp::NumericMatrix& x) {
  Vec out;
  for (int i = 0; i < x.nrow(); ++i)
    for (int a = 0; a < x.ncol(); ++a) out.push_back(x(i, a));
  return out;
}

std::vector<int> labels_from_r(const Rcpp::IntegerVector& labels, Index n) {
  require(labels.size() == n, "a partition has not one label for each node");
  std::vector<int> out(labels.begin(), labels.end());
  for (int& label : out) require(--label >= 0, "labels are not 1 to K");
  return out;
}

Rcpp::IntegerVector labels_to_r(const std::vector<int>& labels) {
  Rcpp::IntegerVector out(labels.begin(), labels.end());
  return out + 1;
}

Rcpp::NumericVector bound_to_r(const BlockBound& b) {
  return Rcpp::NumericVector::create(_["data"] = b.data, _["base"] = b.base, _["allocation"] = b.allocation,
                                     _["entropy"] = b.entropy);
}

// Keeps the records of laps, and passes them on.
class Trace {
 public:
  explicit Trace(Monitor& monitor) : monitor_(monitor) {}
  void add(LapRecord record) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began_;
    record.seconds = passed.count();
    records_.push_back(record);
    monitor_.lap(record);
  }
  Rcpp::DataFrame to_r() const {
    const auto column = [&](auto field) {
      Rcpp::NumericVector out;
      for (const LapRecord& r : records_) out.push_back(static_cast<double>(r.*field));
      return out;
    };
    return Rcpp::DataFrame::create(
        _["lap"] = column(&LapRecord::lap), _["elbo"] = column(&LapRecord::elbo),
        _["k"] = column(&LapRecord::k), _["births"] = column(&LapRecord::births),
        _["merges"] = column(&LapRecord::merges), _["deletes"] = column(&LapRecord::deletes),
        _["births_tried"] = column(&LapRecord::births_tried),
        _["merges_tried"] = column(&LapRecord::merges_tried),
        _["deletes_tried"] = column(&LapRecord::deletes_tried), _["seconds"] = column(&LapRecord::seconds));
  }

 private:
  Monitor& monitor_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::vector<LapRecord> records_;
};

networks::SearchOptions search_options(const ListFields& control) {
  networks::SearchOptions out;
  out.births = control.flag("birth");
  out.merges = control.flag("merge");
  out.deletes = control.flag("delete");
  out.max_laps = control.integer("max_laps");
  out.seed = static_cast<std::uint64_t>(control.number("seed"));
  return out;
}

}  // namespace

// A stochastic blockmodel learned from `labels` (from 1) on.
// [[Rcpp::export]]
Rcpp::List engine_network_blocks(Rcpp::List data, Rcpp::List model, Rcpp::List control,
                                 Rcpp::IntegerVector labels, SEXP progress) {
  return entry([&] {
    const Links links = links_from_r(data);
    const LinkModel link_model = link_model_from_r(model);
    const ListFields options(control);
    RMonitor monitor{Rcpp::Nullable<Rcpp::Function>(progress)};
    RPool pool(options.integer("threads"), monitor);
    Trace trace(pool.monitor());
    const networks::BlocksFit fit = learn_blocks(
        links, link_model, ListFields(model).number("gamma"), labels_from_r(labels, links.n()),
        search_options(options), options.number("tol"), pool, [&](LapRecord r) { trace.add(r); });
    return made_in_r([&] {
      return Rcpp::List::create(
          _["k"] = fit.k, _["labels"] = labels_to_r(fit.labels), _["log_joint"] = fit.log_joint,
          _["prob"] = matrix_to_r(fit.r, links.n(), fit.k), _["sizes"] = fit.sizes,
          _["pairs"] = matrix_to_r(fit.n, fit.k, fit.k), _["sum"] = matrix_to_r(fit.s, fit.k, fit.k),
          _["terms"] = bound_to_r(fit.bound), _["trace"] = trace.to_r(), _["laps"] = fit.laps,
          _["converged"] = fit.converged);
    });
  });
}

// J of labels, and the change of J by joining each pair of clusters (for tests and log_joint()).
// [[Rcpp::export]]
Rcpp::List engine_network_joint(Rcpp::List data, Rcpp::List model, Rcpp::IntegerVector labels) {
  return entry([&] {
    const Links links = links_from_r(data);
    const LinkModel link_model = link_model_from_r(model);
    const networks::Partition p(links, link_model, ListFields(model).number("gamma"),
                                labels_from_r(labels, links.n()));
    Rcpp::NumericMatrix gain(static_cast<int>(p.k()), static_cast<int>(p.k()));
    for (Index a = 0; a < p.k(); ++a)
      for (Index b = 0; b < p.k(); ++b) gain(a, b) = a == b ? 0 : p.merge_gain(a, b);
    return Rcpp::List::create(_["log_joint"] = p.log_joint(), _["merge_gain"] = gain);
  });
}

// A sequence of changes of a partition: "sweep", "merge" and "divide", and what J and the table are after
// each, as they were kept and made anew (for tests).
// [[Rcpp::export]]
Rcpp::List engine_network_changes(Rcpp::List data, Rcpp::List model, Rcpp::IntegerVector labels,
                                  std::vector<std::string> changes, double seed) {
  return entry([&] {
    const Links links = links_from_r(data);
    const LinkModel link_model = link_model_from_r(model);
    networks::Partition p(links, link_model, ListFields(model).number("gamma"),
                          labels_from_r(labels, links.n()));
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
        p.merge(a, p.k() - 1);
      }
      const networks::Partition fresh = p.with_labels(p.labels());
      double worst = 0;
      for (Index a = 0; a < p.k(); ++a)
        for (Index b = 0; b < p.k(); ++b)
          worst = std::max({worst, std::abs(p.pairs(a, b) - fresh.pairs(a, b)),
                            std::abs(p.sum(a, b) - fresh.sum(a, b)), std::abs(p.size(a) - fresh.size(a))});
      out.push_back(Rcpp::List::create(_["labels"] = labels_to_r(p.labels()), _["before"] = before,
                                       _["said"] = said, _["log_joint"] = p.log_joint(),
                                       _["fresh"] = fresh.log_joint(), _["worst"] = worst, _["k"] = p.k()));
    }
    return out;
  });
}

// The bound of soft labels (n × K) before and after each of `laps` laps, and their end (for tests).
// [[Rcpp::export]]
Rcpp::List engine_network_soft(Rcpp::List data, Rcpp::List model, Rcpp::NumericMatrix prob, int laps) {
  return entry([&] {
    const Links links = links_from_r(data);
    const LinkModel link_model = link_model_from_r(model);
    require(prob.nrow() == links.n(), "there is not a row for each node");
    networks::SoftBlocks soft(links, link_model, ListFields(model).number("gamma"), prob.ncol(),
                              rows_from_r(prob));
    Rcpp::NumericVector bound;
    const Rcpp::NumericVector terms = bound_to_r(soft.bound());
    for (int lap = 0; lap <= laps; ++lap) {
      if (lap > 0) soft.lap();
      bound.push_back(soft.bound().sum());
    }
    double merged = NA_REAL;
    if (soft.k() > 1) merged = soft.bound_of_merge(0, 1);
    return Rcpp::List::create(_["bound"] = bound, _["terms"] = terms,
                              _["prob"] = matrix_to_r(soft.r(), links.n(), soft.k()), _["merged"] = merged);
  });
}

namespace {

// Overlapping communities of a list(kind, gamma, alpha, counts, a, b, a_background, b_background), from
// shares of the nodes (n × K). The link models must outlive the state.
struct OverlapModel {
  explicit OverlapModel(const Rcpp::List& model)
      : fields(model),
        blocks(fields.flag("counts"), fields.number("a"), fields.number("b")),
        background(fields.flag("counts"), fields.number("a_background"), fields.number("b_background")) {}
  std::unique_ptr<networks::Overlap> start(const Links& links, const Rcpp::NumericMatrix& share) const {
    require(share.nrow() == links.n() && share.ncol() > 0, "there is not a row for each node");
    const double gamma = fields.number("gamma"), alpha = fields.number("alpha");
    if (fields.flag("degree")) {
      const networks::GammaPriors priors{gamma,
                                         alpha,
                                         blocks.a(),
                                         blocks.b(),
                                         background.a(),
                                         background.b(),
                                         fields.flag("counts"),
                                         fields.number("dense")};
      return std::make_unique<networks::GammaNetwork>(links, priors, share.ncol(), rows_from_r(share));
    }
    return std::make_unique<networks::Relational>(links, blocks, background, gamma, alpha, share.ncol(),
                                                  rows_from_r(share));
  }
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

}  // namespace

// Overlapping communities learned from shares of the nodes (n × K) on.
// [[Rcpp::export]]
Rcpp::List engine_network_overlap(Rcpp::List data, Rcpp::List model, Rcpp::List control,
                                  Rcpp::NumericMatrix share, SEXP progress) {
  return entry([&] {
    const Links links = links_from_r(data);
    const OverlapModel overlap(model);
    const ListFields given(control);
    RMonitor monitor{Rcpp::Nullable<Rcpp::Function>(progress)};
    RPool pool(given.integer("threads"), monitor);
    Trace trace(pool.monitor());
    networks::OverlapOptions options;
    options.births = given.flag("birth");
    options.merges = given.flag("merge");
    options.deletes = given.flag("delete");
    options.reorder = given.flag("reorder");
    options.max_laps = given.integer("max_laps");
    options.tol = given.number("tol");
    options.seed = static_cast<std::uint64_t>(given.number("seed"));
    const networks::OverlapEnd end =
        learn_overlap(overlap.start(links, share), options, pool, [&](LapRecord r) { trace.add(r); });
    return made_in_r([&] {
      Rcpp::List out = overlap_to_r(*end.state);
      out["trace"] = trace.to_r();
      out["laps"] = end.laps;
      out["converged"] = end.converged;
      return out;
    });
  });
}

// The bound before and after each of `laps` laps from shares of the nodes, and the state in the end;
// `sticks`: NULL, or list(u, omega) in place of the sticks found (of models without degrees; for tests).
// [[Rcpp::export]]
Rcpp::List engine_network_laps(Rcpp::List data, Rcpp::List model, Rcpp::NumericMatrix share, int laps,
                               SEXP sticks) {
  return entry([&] {
    const Links links = links_from_r(data);
    const OverlapModel overlap(model);
    std::unique_ptr<networks::Overlap> state = overlap.start(links, share);
    Rcpp::NumericVector bound;
    for (int lap = 0; lap <= laps; ++lap) {
      if (lap > 0) state->lap();
      bound.push_back(state->bound());
    }
    if (sticks != R_NilValue) {
      const Rcpp::List held(sticks);
      auto* relational = dynamic_cast<networks::Relational*>(state.get());
      require(relational, "sticks can be held where there are no degrees");
      relational->hold_sticks({Rcpp::as<Vec>(held["u"]), Rcpp::as<Vec>(held["omega"])});
    }
    Rcpp::List out = overlap_to_r(*state);
    out["bound"] = bound;
    return out;
  });
}

// Changes of a gamma network that visit a few nodes, one after the other, from where `laps` laps end: of each
// the gain it said, the bound before and after, the bound once all sums are made anew, and the state after it
// (for tests). changes: list(kind, a, b, leaves, share, least) of "split", "merge" and "drop", numbers
// from 1.
// [[Rcpp::export]]
Rcpp::List engine_network_local(Rcpp::List data, Rcpp::List model, Rcpp::NumericMatrix share, int laps,
                                Rcpp::List changes) {
  return entry([&] {
    const Links links = links_from_r(data);
    const OverlapModel overlap(model);
    std::unique_ptr<networks::Overlap> state = overlap.start(links, share);
    auto* gamma = dynamic_cast<networks::GammaNetwork*>(state.get());
    require(gamma, "only models with degrees have changes of a few nodes");
    for (int lap = 0; lap < laps; ++lap) state->lap();
    Rcpp::List out;
    for (const Rcpp::List change : changes) {
      const ListFields fields(change);
      const std::string kind = Rcpp::as<std::string>(change["kind"]);
      const Index a = fields.integer("a") - 1;
      const double least = fields.number("least"), before = state->bound();
      double said = 0;
      require(a >= 0 && a < state->k(), "there is no such community");
      if (kind == "split") {
        std::vector<int> leaves = Rcpp::as<std::vector<int>>(change["leaves"]);
        for (int& i : leaves) --i;
        said = gamma->split_here({a, leaves}, fields.number("share"), least);
      }
      if (kind == "merge") said = gamma->merge_here(a, fields.integer("b") - 1, least);
      if (kind == "drop") said = gamma->drop_here(a, least);
      const double after = state->bound();
      gamma->refresh();
      Rcpp::List end = overlap_to_r(*state);
      end["said"] = said;
      end["before"] = before;
      end["after"] = after;
      end["anew"] = state->bound();
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
