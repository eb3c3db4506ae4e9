// Conversion of states of fits to and from R lists.
#include <algorithm>
#include <cmath>
#include <string>

#include "inference/learn/alloc_capabilities.h"
#include "observations/named_clusters.h"
#include "r_convert.h"

namespace bnpvi {

namespace {

Rcpp::NumericMatrix rows_to_matrix(const double* v, Index rows, Index cols) {
  Rcpp::NumericMatrix out(static_cast<int>(rows), static_cast<int>(cols));
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) out[j * rows + i] = v[i * cols + j];
  return out;
}

template <class Numbers>
void matrix_to_rows(const Rcpp::List& state, const char* name, Index rows, Index cols, Numbers& v) {
  const Rcpp::NumericMatrix m(static_cast<SEXP>(state[name]));
  require(m.nrow() == rows && m.ncol() == cols,
          std::string("state$") + name + " is " + std::to_string(m.nrow()) + " by " +
              std::to_string(m.ncol()) + ", not " + std::to_string(rows) + " by " + std::to_string(cols));
  require(std::all_of(m.begin(), m.end(), [](double x) { return std::isfinite(x); }),
          std::string("state$") + name + " has numbers that are not finite");
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) v[i * cols + j] = m[j * rows + i];
}

}  // namespace

Rcpp::List state_to_r(const Globals& g) {
  const Summary& s = g.effective;
  Rcpp::List out = Rcpp::List::create(
      Rcpp::_["k"] = static_cast<int>(s.k), Rcpp::_["obs"] = rows_to_matrix(s.obs.data(), s.k, s.shape.p),
      Rcpp::_["extra"] = rows_to_matrix(s.extra.data(), s.k, s.shape.q),
      Rcpp::_["pair"] = s.shape.pairs ? Rcpp::RObject(rows_to_matrix(s.pair.data(), s.k, s.k * s.shape.pairs))
                                      : Rcpp::RObject(R_NilValue),
      Rcpp::_["scalar"] = s.scalar, Rcpp::_["log_base"] = s.log_base, Rcpp::_["u"] = g.u,
      Rcpp::_["omega"] = g.omega);
  if (!s.owner.empty()) out.push_back(s.owner, "owner");
  if (s.names.any()) out.push_back(s.names.of, "named");
  return out;
}

Globals state_from_r(const Rcpp::List& state, const RModel& model) {
  const Index k = Rcpp::as<int>(state["k"]), fixed_k = model.alloc->fixed_k();
  require(k >= 0 && (fixed_k == 0 || k == fixed_k), "state$k is not the number of clusters of the prior");
  // Checked before memory for k clusters is allocated.
  require(Rcpp::NumericMatrix(static_cast<SEXP>(state["obs"])).nrow() == k,
          "state$obs has not a row for each cluster");
  Globals g;
  Summary& s = g.effective;
  s = Summary(model.alloc->shape(*model.obs), k);
  matrix_to_rows(state, "obs", k, s.shape.p, s.obs.edit());
  matrix_to_rows(state, "extra", k, s.shape.q, s.extra);
  if (s.shape.pairs) matrix_to_rows(state, "pair", k, k * s.shape.pairs, s.pair);
  s.scalar = Rcpp::as<Vec>(state["scalar"]);
  if (state.containsElementNamed("log_base")) s.log_base = Rcpp::as<double>(state["log_base"]);
  if (state.containsElementNamed("owner")) s.owner = Rcpp::as<std::vector<int>>(state["owner"]);
  require((s.owner.empty() || static_cast<Index>(s.owner.size()) == k) &&
              std::all_of(s.owner.begin(), s.owner.end(), [](int c) { return c >= 0; }),
          "state$owner has not k classes");
  if (state.containsElementNamed("named")) s.names.of = Rcpp::as<std::vector<int>>(state["named"]);
  require(has_names(*model.obs, s.names.of, k), "state$named has not each name of the model once");
  g.u = Rcpp::as<Vec>(state["u"]);
  g.omega = Rcpp::as<Vec>(state["omega"]);
  require(static_cast<Index>(s.scalar.size()) == s.shape.scalars &&
              (static_cast<Index>(g.u.size()) == stored_in_u(*model.alloc, k) ||
               lacks_pairs(*model.alloc, g.u, k) || (g.u.empty() && !model.alloc->has_sticks())) &&
              static_cast<Index>(g.omega.size()) == model.alloc->numbers_in_omega(k),
          "state$scalar, u or omega has not the length that the prior asks for");
  return g;
}

}  // namespace bnpvi
