// What the exported functions for network models read from R and return.
#pragma once
#include "foundation/random.h"
#include "networks/degrees.h"
#include "networks/learn_sampled.h"
#include "networks/link_model.h"
#include "networks/links.h"
#include "networks/soft_blocks.h"
#include "r_family.h"

namespace bnpvi {

using networks::LinkModel;
using networks::Links;
using networks::OwnedLabels;
using networks::Owners;

// Reads a network from list(n, directed, from, to, value, hidden_from, hidden_to); nodes are numbered from 1.
// Optional elements: `loops`, for each node the value of its link with itself; `classes` and `class_sets`,
// for nodes with labels (class_sets_from_r()).
inline Links links_from_r(const Rcpp::List& data) {
  const auto nodes = [&](const char* name) {
    std::vector<int> out = Rcpp::as<std::vector<int>>(data[name]);
    for (int& i : out) --i;
    return out;
  };
  Links out(Rcpp::as<int>(data["n"]), Rcpp::as<bool>(data["directed"]), nodes("from"), nodes("to"),
            Rcpp::as<Vec>(data["value"]), nodes("hidden_from"), nodes("hidden_to"),
            data.containsElementNamed("loops") ? Rcpp::as<Vec>(data["loops"]) : Vec());
  if (data.containsElementNamed("classes"))
    out.know(class_sets_from_r(data, out.n()), Rcpp::as<std::vector<int>>(data["classes"]));
  return out;
}

inline LinkModel link_model_from_r(const Rcpp::List& model) {
  const ListFields fields(model);
  return LinkModel(fields.flag("counts"), fields.number("a"), fields.number("b"));
}

/// Base of the families of network models. control$starts says where fits start. It is either a start, with
/// the attribute `owner` of communities if nodes have labels; or a function of seed, `init` and `k_init` that
/// returns a start (AskedStart). In the call, "" and 0 stand for the values in the control.
class NetworkFamily : public RFamily {
 public:
  Learned begin(const Start& start) override { return {made(start), {}}; }

  std::unique_ptr<Fit> read(const Start& start, Reader& in) override {
    auto fit = made(start);
    fit->read(in);
    return fit;
  }

 protected:
  explicit NetworkFamily(const FitCall& call)
      : call_(call),
        fields_(call.control),
        links_(links_from_r(call.data)),
        asked_(learn_options(call.control)) {
    constexpr double between_polls = 1000;  // approximate cost for one community
    links_.spend_by([this](double products) { call_.pool.spend(products); });
    links_.poll_by([this] {
      call_.pool.spend(between_polls);
      call_.pool.poll();
    });
  }

  bool stochastic() const { return fields_.text("algorithm") == "stochastic"; }

  networks::SampledOptions sampled(std::uint64_t seed) const {
    networks::SampledOptions out;
    static_cast<RestartOptions&>(out) = asked_;
    out.seed = seed;
    out.batches = fields_.integer("batches");
    out.delay = asked_.delay;
    out.power = asked_.power;
    return out;
  }

  // Options of a search with the seed `seed`. The template argument is SearchOptions or OverlapOptions.
  template <class Options>
  Options searched(std::uint64_t seed) const {
    Options out;
    static_cast<RestartOptions&>(out) = asked_;
    out.seed = seed;
    out.births = asked_.moves.birth;
    out.merges = asked_.moves.merge;
    out.deletes = asked_.moves.remove;
    out.observer = &call_.observer;
    return out;
  }

  const FitCall call_;
  const ListFields fields_;
  Links links_;
  const LearnOptions asked_;

 private:
  virtual std::unique_ptr<networks::NetworkFit> fit_from(SEXP start, std::uint64_t seed) const = 0;

  std::unique_ptr<networks::NetworkFit> made(const Start& start) const {
    const Rcpp::RObject starts = call_.control["starts"];
    if (!Rf_isFunction(starts)) return fit_from(starts, start.seed);
    const AskedStart asked = fields_.has("kinds") ? asked_start(fields_, start) : AskedStart();
    const Rcpp::RObject at = made_in_r([&] {
      return Rcpp::RObject(Rcpp::Function(static_cast<SEXP>(starts))(
          static_cast<double>(start.seed), asked.init, static_cast<double>(asked.k)));
    });
    return fit_from(at, start.seed);
  }
};

/// The community of each of n nodes; labels count from 1 in R, from 0 in the engine.
std::vector<int> labels_from_r(const Rcpp::IntegerVector& labels, Index n);
/// Reads from the attribute `owner` of a start the owner of each of its k communities: the class whose nodes
/// alone may join it, or 0 if every node may. Without the attribute every node may join all communities.
Owners owners_from_r(const Rcpp::RObject& start, Index k);
/// Reads the start of a network's fit from R: the community of each node and the owner of each community (the
/// class of labelled nodes that alone may join it; 0: every node may). Each node must be in a community that
/// its own label allows.
OwnedLabels owned_labels_from_r(const Rcpp::IntegerVector& start, const Links& links);
Rcpp::IntegerVector labels_to_r(const std::vector<int>& labels);

/// The terms of a variational bound as a named vector. degrees: include the term of the nodes' degrees.
Rcpp::NumericVector bound_to_r(const networks::BlockBound& b, bool degrees = false);

/// The degrees of nodes for a degree-corrected blockmodel, from list(degree) in the model. Null for other
/// models.
std::unique_ptr<networks::Degrees> degrees_from_r(const Rcpp::List& model, const Links& links);

// Converts R's numbers of nodes, from 1 to n, to those of the engine, from 0.
inline std::vector<int> nodes_from_r(const Rcpp::IntegerVector& nodes, Index n) {
  std::vector<int> out(nodes.begin(), nodes.end());
  for (int& i : out) require(--i >= 0 && i < n, "there is no such node");
  return out;
}

// An n × k matrix of R from row-major numbers x.
inline Rcpp::NumericMatrix matrix_to_r(const Vec& x, Index n, Index k) {
  Rcpp::NumericMatrix out(static_cast<int>(n), static_cast<int>(k));
  for (int i = 0; i < out.nrow(); ++i)
    for (int a = 0; a < out.ncol(); ++a) out(i, a) = x[static_cast<std::size_t>(i) * out.ncol() + a];
  return out;
}

inline Vec rows_from_r(const Rcpp::NumericMatrix& x) {
  Vec out;
  for (int i = 0; i < x.nrow(); ++i)
    for (int a = 0; a < x.ncol(); ++a) out.push_back(x(i, a));
  return out;
}

}  // namespace bnpvi
