#include "r_convert.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>

namespace bnpvi {

SEXP ListFields::get(const char* name) const {
  if (!list_.containsElementNamed(name)) throw std::invalid_argument(std::string("missing field: ") + name);
  return list_[name];
}

const NamedArray* ListFields::replaced(const char* name) const {
  const auto at = std::find_if(replaced_.begin(), replaced_.end(),
                               [name](const NamedArray& a) { return a.name == name; });
  return at == replaced_.end() ? nullptr : &*at;
}

std::string ListFields::text(const char* name) const { return Rcpp::as<std::string>(get(name)); }
double ListFields::number(const char* name) const {
  const NamedArray* array = replaced(name);
  return array ? array->value.at(0) : Rcpp::as<double>(get(name));
}

Vec ListFields::numbers(const char* name) const {
  const NamedArray* array = replaced(name);
  return array ? array->value : Rcpp::as<Vec>(get(name));
}

RData::RData(const Rcpp::List& list) : list_(list) {
  data_.n = Rcpp::as<int>(list["n"]);
  data_.d = Rcpp::as<int>(list["d"]);
  if (list.containsElementNamed("x")) {
    data_.dense = REAL(list["x"]);
  } else {
    data_.row_start = INTEGER(list["row_start"]);
    data_.column = INTEGER(list["column"]);
    data_.value = REAL(list["value"]);
  }
  for (int s : Rcpp::as<std::vector<int>>(list["starts"])) data_.starts.push_back(s);
  const std::vector<Index>& starts = data_.starts;
  const bool any_empty =
      std::adjacent_find(starts.begin(), starts.end(), std::greater_equal<Index>()) != starts.end();
  data_.rows_are_groups = data_.n_groups() == data_.n && !any_empty;
}

RModel::RModel(const Rcpp::List& model, const Sparsity& sparsity, const NamedArrays& learned) {
  const Rcpp::List obs_list = model["obs"], prior_list = model["prior"];
  obs = make_obs_model(ListFields(obs_list, learned));
  alloc = make_alloc_model(ListFields(prior_list), sparsity);
}

namespace {

Rcpp::NumericMatrix rows_to_matrix(const double* v, Index rows, Index cols) {
  Rcpp::NumericMatrix out(static_cast<int>(rows), static_cast<int>(cols));
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) out[j * rows + i] = v[i * cols + j];
  return out;
}

template <class Numbers>
void matrix_to_rows(const Rcpp::NumericMatrix& m, Numbers& v) {
  const Index rows = m.nrow(), cols = m.ncol();
  if (static_cast<Index>(v.size()) != rows * cols)
    throw std::invalid_argument("a stored state does not fit its model");
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) v[i * cols + j] = m[j * rows + i];
}

}  // namespace

std::vector<Index> all_units(const Dataset& data, const RModel& model) {
  if (!model.alloc->grouped()) return modelled_rows(data.starts, model.obs->lag());
  std::vector<Index> groups(static_cast<std::size_t>(data.n_groups()));
  std::iota(groups.begin(), groups.end(), Index{0});
  return groups;
}

Rcpp::List state_to_r(const Globals& g) {
  const Summary& s = g.effective;
  return Rcpp::List::create(
      Rcpp::_["k"] = static_cast<int>(s.k), Rcpp::_["obs"] = rows_to_matrix(s.obs.data(), s.k, s.shape.p),
      Rcpp::_["extra"] = rows_to_matrix(s.extra.data(), s.k, s.shape.q),
      Rcpp::_["pair"] =
          s.shape.pairs ? Rcpp::RObject(rows_to_matrix(s.pair.data(), s.k, s.k)) : Rcpp::RObject(R_NilValue),
      Rcpp::_["scalar"] = s.scalar, Rcpp::_["u"] = g.u, Rcpp::_["omega"] = g.omega);
}

Globals state_from_r(const Rcpp::List& state, const RModel& model) {
  Globals g;
  g.effective = Summary(model.alloc->shape(*model.obs), Rcpp::as<int>(state["k"]));
  matrix_to_rows(state["obs"], g.effective.obs.edit());
  matrix_to_rows(state["extra"], g.effective.extra);
  if (g.effective.shape.pairs) matrix_to_rows(state["pair"], g.effective.pair);
  g.effective.scalar = Rcpp::as<Vec>(state["scalar"]);
  g.u = Rcpp::as<Vec>(state["u"]);
  g.omega = Rcpp::as<Vec>(state["omega"]);
  return g;
}

Rcpp::List arrays_to_r(const NamedArrays& arrays) {
  Rcpp::List out(arrays.size());
  Rcpp::CharacterVector names(arrays.size());
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    Rcpp::NumericVector value(arrays[i].value.begin(), arrays[i].value.end());
    if (!arrays[i].dim.empty())
      value.attr("dim") = Rcpp::IntegerVector(arrays[i].dim.begin(), arrays[i].dim.end());
    out[i] = value;
    names[i] = arrays[i].name;
  }
  out.attr("names") = names;
  return out;
}

Rcpp::NumericVector terms_to_r(const Terms& terms) {
  Rcpp::NumericVector out(terms.size());
  Rcpp::CharacterVector names(terms.size());
  for (std::size_t i = 0; i < terms.size(); ++i) {
    out[i] = terms[i].second;
    names[i] = terms[i].first;
  }
  out.attr("names") = names;
  return out;
}

Rcpp::List record_to_r(const LapRecord& r) {
  using Rcpp::_;
  return Rcpp::List::create(
      _["lap"] = static_cast<int>(r.lap), _["elbo"] = r.elbo, _["k"] = static_cast<int>(r.k),
      _["births"] = static_cast<int>(r.births), _["merges"] = static_cast<int>(r.merges),
      _["deletes"] = static_cast<int>(r.deletes), _["births_tried"] = static_cast<int>(r.births_tried),
      _["merges_tried"] = static_cast<int>(r.merges_tried),
      _["deletes_tried"] = static_cast<int>(r.deletes_tried), _["seconds"] = r.seconds);
}

void RMonitor::lap(const LapRecord& record) {
  if (progress_.isNotNull()) Rcpp::Function(progress_.get())(record_to_r(record));
}

bool RMonitor::interrupted() {
  return R_ToplevelExec([](void*) { R_CheckUserInterrupt(); }, nullptr) == FALSE;
}

Question::Question(const Rcpp::List& data, const Rcpp::List& list, const Rcpp::List& state, int threads,
                   const Sparsity& sparsity)
    : rdata(data), model(list, sparsity), globals(state_from_r(state, model)), pool(threads, monitor) {}

}  // namespace bnpvi
