// What entries of networks read and return.
#pragma once
#include "foundation/random.h"
#include "networks/learn_sampled.h"
#include "networks/link_model.h"
#include "networks/links.h"
#include "r_checkpoint.h"
#include "r_learn.h"
#include "testing/network_audit.h"

namespace bnpvi {

using networks::LinkModel;
using networks::Links;

// list(n, directed, from, to, value, hidden_from, hidden_to), nodes from 1; may have `loops`, a number for
// each node.
inline Links links_from_r(const Rcpp::List& data) {
  const auto nodes = [&](const char* name) {
    std::vector<int> out = Rcpp::as<std::vector<int>>(data[name]);
    for (int& i : out) --i;
    return out;
  };
  return Links(Rcpp::as<int>(data["n"]), Rcpp::as<bool>(data["directed"]), nodes("from"), nodes("to"),
               Rcpp::as<Vec>(data["value"]), nodes("hidden_from"), nodes("hidden_to"),
               data.containsElementNamed("loops") ? Rcpp::as<Vec>(data["loops"]) : Vec());
}

inline LinkModel link_model_from_r(const Rcpp::List& model) {
  const ListFields fields(model);
  return LinkModel(fields.flag("counts"), fields.number("a"), fields.number("b"));
}

inline bool is_stochastic(const Rcpp::List& control) {
  return Rcpp::as<std::string>(control["algorithm"]) == "stochastic";
}

inline networks::SampledOptions sampled_from_r(const ListFields& control, std::uint64_t seed) {
  networks::SampledOptions out;
  read_run(control, out);
  out.seed = seed;
  out.batches = control.integer("batches");
  out.delay = control.number("delay");
  out.power = control.number("power");
  return out;
}

// Where control$audit asks for one: who makes all that is accepted anew.
inline std::unique_ptr<testing::NetworkAudit> audit_from_r(const Rcpp::List& control) {
  return ListFields(control).optional_flag("audit") ? std::make_unique<testing::NetworkAudit>() : nullptr;
}

inline networks::Observer* observer_of(const std::unique_ptr<testing::NetworkAudit>& audit) {
  return audit ? audit.get() : &networks::nobody;
}

inline void add_audit(const std::unique_ptr<testing::NetworkAudit>& audit, Rcpp::List& out) {
  using Rcpp::_;
  if (!audit) return;
  out.push_back(Rcpp::NumericVector::create(_["accepted"] = static_cast<double>(audit->accepted_ones),
                                            _["objective"] = audit->objective,
                                            _["smallest_gain"] = audit->smallest_gain),
                "audit");
}

// starts: where restarts begin, a list of one for each or one for all.
inline Restarted run_of(
    const Rcpp::List& control, SEXP starts,
    const std::function<std::unique_ptr<networks::NetworkFit>(std::uint64_t seed, SEXP start)>& make,
    const RestartOptions& options, Pool& pool) {
  const bool several = TYPEOF(starts) == VECSXP;
  require(!several || Rf_xlength(starts) == options.restarts, "there is not a start for each restart");
  const auto made = [&](std::uint64_t seed) {
    Index restart = 0;
    while (restart + 1 < options.restarts && restart_seed(options.seed, restart) != seed) ++restart;
    return make(seed, several ? VECTOR_ELT(starts, restart) : starts);
  };
  const Maker maker{[&](std::uint64_t seed) { return Learned{made(seed), {}}; },
                    [&](std::uint64_t seed, Reader& in) {
                      auto fit = made(seed);
                      fit->read(in);
                      return fit;
                    }};
  Checkpoints checkpoints(control);
  return drive_restarts(maker, options, pool, checkpoints, checkpoints.stored());
}

// Numbers of nodes from 1.
inline std::vector<int> nodes_from_r(const Rcpp::IntegerVector& nodes, Index n) {
  std::vector<int> out(nodes.begin(), nodes.end());
  for (int& i : out) require(--i >= 0 && i < n, "there is no such node");
  return out;
}

// n × k of row-major numbers.
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
