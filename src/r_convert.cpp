#include "r_convert.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "observations/patterned_rows.h"
#include "r_hmm.h"

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

Fields::Lists ListFields::lists(const char* name) const {
  const Rcpp::List all = get(name);
  const auto names = Rcpp::as<std::vector<std::string>>(all.names());
  Lists out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    NamedArrays own;
    for (const NamedArray& array : replaced_) {
      const std::size_t dot = array.name.rfind('.');
      if (dot != std::string::npos && array.name.substr(0, dot) == names[i])
        own.push_back({array.name.substr(dot + 1), array.value, array.dim});
    }
    const auto list = Rcpp::as<Rcpp::List>(all[static_cast<R_xlen_t>(i)]);
    out.emplace_back(names[i], std::make_unique<ListFields>(list, own));
  }
  return out;
}

void require(bool holds, const std::string& what) {
  if (!holds) throw std::invalid_argument("internal error: " + what);
}

ClassSets class_sets_from_r(const Rcpp::List& data, Index n) {
  const Rcpp::IntegerVector classes = data["classes"];
  const Rcpp::LogicalMatrix sets(static_cast<SEXP>(data["class_sets"]));
  ClassSets out;
  out.n_classes = sets.ncol();
  const bool open = data.containsElementNamed("classes_open") && Rcpp::as<bool>(data["classes_open"]);
  for (int set = 0; set < sets.nrow(); ++set) {
    out.has.push_back(open);
    for (int c = 0; c < sets.ncol(); ++c) out.has.push_back(sets(set, c) == TRUE);
  }
  require(classes.size() == n && std::all_of(classes.begin(), classes.end(),
                                             [&](int set) { return 0 <= set && set <= sets.nrow(); }),
          "data$classes are not n numbers of rows of data$class_sets");
  return out;
}

namespace {

SEXP vector_of(SEXPTYPE type, const Rcpp::List& list, const char* name) {
  SEXP x = list[name];
  require(TYPEOF(x) == static_cast<int>(type), std::string("data$") + name + " is of the wrong type");
  return x;
}

// True if 0 = at[0] ≤ at[1] ≤ ... ≤ at[n] = end.
bool are_offsets(const int* at, Index n, Index end) {
  return n >= 0 && at[0] == 0 && std::is_sorted(at, at + n + 1) && at[n] == end;
}

}  // namespace

RData::RData(const Rcpp::List& list) : list_(list) {
  const Index n = data_.n = Rcpp::as<int>(list["n"]), d = data_.d = Rcpp::as<int>(list["d"]);
  require(n >= 0 && d >= 0, "data$n and data$d must not be negative");
  if (list.containsElementNamed("x")) {
    SEXP x = vector_of(REALSXP, list, "x");
    require(Rf_xlength(x) == n * d, "data$x does not have n times d values");
    data_.dense = REAL(x);
  } else {
    SEXP row_start = vector_of(INTSXP, list, "row_start"), column = vector_of(INTSXP, list, "column"),
         value = vector_of(REALSXP, list, "value");
    data_.row_start = INTEGER(row_start);
    data_.column = INTEGER(column);
    data_.value = REAL(value);
    require(Rf_xlength(row_start) == n + 1 && Rf_xlength(value) == Rf_xlength(column) &&
                are_offsets(data_.row_start, n, Rf_xlength(column)),
            "data$row_start does not divide the entries among n rows");
    require(
        std::all_of(data_.column, data_.column + Rf_xlength(column), [d](int j) { return 0 <= j && j < d; }),
        "data$column is not within d columns");
  }
  if (list.containsElementNamed("weights")) {
    SEXP weight = vector_of(REALSXP, list, "weights");
    require(Rf_xlength(weight) == n && std::all_of(REAL(weight), REAL(weight) + n,
                                                   [](double w) { return w >= 0 && std::isfinite(w); }),
            "data$weights are not n numbers from 0");
    data_.weight = REAL(weight);
  }
  if (list.containsElementNamed("classes")) {
    SEXP classes = vector_of(INTSXP, list, "classes");
    class_sets_ = class_sets_from_r(list, n);
    data_.classes = INTEGER(classes);
    data_.class_sets = &class_sets_;
  }
  if (list.containsElementNamed("individual")) {
    individual_ = Rcpp::as<std::vector<int>>(list["individual"]);
    n_individuals_ = Rcpp::as<int>(list["n_individuals"]);
    std::vector<bool> seen(static_cast<std::size_t>(std::max<Index>(n_individuals_, 0)));
    require(static_cast<Index>(individual_.size()) == n, "data$individual has not a number for each row");
    for (int& i : individual_) {
      require(1 <= i && i <= n_individuals_, "data$individual has numbers beyond data$n_individuals");
      seen[--i] = true;
    }
    require(std::all_of(seen.begin(), seen.end(), [](bool x) { return x; }),
            "data$individual leaves individuals without rows");
  }
  const auto offsets = Rcpp::as<std::vector<int>>(list["starts"]);
  require(are_offsets(offsets.data(), static_cast<Index>(offsets.size()) - 1, n),
          "data$starts does not divide n rows into groups");
  data_.starts.assign(offsets.begin(), offsets.end());
  const std::vector<Index>& starts = data_.starts;
  if (list.containsElementNamed("back")) {
    SEXP back = vector_of(INTSXP, list, "back");
    require(Rf_xlength(back) == n, "data$back has not a number for each row");
    data_.back = INTEGER(back);
    for (Index g = 0; g + 1 < static_cast<Index>(starts.size()); ++g)
      for (Index row = starts[g]; row < starts[g + 1]; ++row)
        require(0 <= data_.back[row] && data_.back[row] <= row - starts[g],
                "data$back leads out of a group or forward");
  }
  if (list.containsElementNamed("position")) {
    require(Rf_xlength(list["position"]) == n, "data$position has not a number for each row");
    data_.position = INTEGER(vector_of(INTSXP, list, "position"));
  }
  if (list.containsElementNamed("group_values")) {
    const Rcpp::NumericMatrix values(vector_of(REALSXP, list, "group_values"));  // one column for each group
    require(values.ncol() == data_.n_groups(), "data$group_values has not a column for each group");
    data_.group_value = values.begin();
    data_.group_width = values.nrow();
  }
  const bool any_empty =
      std::adjacent_find(starts.begin(), starts.end(), std::greater_equal<Index>()) != starts.end();
  data_.rows_are_groups = data_.n_groups() == data_.n && !any_empty;
}

namespace {

// The fields that the allocation model has learned: a name may be that of a field of both models, as
// "concentration" is of levels and of the shares of clusters, and only one of them has learned it.
NamedArrays not_of_observations(NamedArrays learned, const Fields& obs_fields) {
  if (learned.empty()) return learned;
  const std::unique_ptr<ObsModel> obs = make_obs_model(obs_fields);
  for (const NamedArray& own : prior_of(*obs).learned_fields())
    learned.erase(std::remove_if(learned.begin(), learned.end(),
                                 [&](const NamedArray& field) { return field.name == own.name; }),
                  learned.end());
  return learned;
}

}  // namespace

RModel::RModel(const Rcpp::List& model, const Sparsity& sparsity, const NamedArrays& learned) {
  const Rcpp::List obs_list = model["obs"], prior_list = model["prior"];
  const bool loose = model.containsElementNamed("bound") && Rcpp::as<std::string>(model["bound"]) == "loose";
  std::unique_ptr<ListFields> response;
  if (model.containsElementNamed("response"))
    response = std::make_unique<ListFields>(Rcpp::List(static_cast<SEXP>(model["response"])));
  const ListFields obs_fields(obs_list, learned);
  alloc = make_alloc_model(ListFields(prior_list, not_of_observations(learned, obs_fields)), sparsity,
                           loose ? RowBound::loose : RowBound::tight, response.get());
  obs = obs_beside(*alloc, obs_fields);
}

std::unique_ptr<ObsModel> obs_beside(const AllocModel& alloc, const Fields& fields) {
  std::unique_ptr<ObsModel> obs = make_obs_model(fields);
  if (alloc.patterns() == 0) return obs;
  return std::make_unique<PatternedRows>(std::move(obs), alloc.patterns());
}

const Dataset& RData::view_for(const ObsModel& obs) {
  const RepeatedRows* repeated = obs.capabilities().individuals;
  require((repeated != nullptr) == (n_individuals_ > 0), "only one of data and model has individuals");
  const Index columns = repeated ? repeated->of_rows().n_columns() : obs.n_columns();
  require(data_.d == columns,
          "the data have " + std::to_string(data_.d) + " columns, the model " + std::to_string(columns));
  if (!repeated) return data_;
  sums_ = std::make_unique<IndividualSums>(*repeated, data_, individual_.data(), n_individuals_);
  return sums_->view();
}

std::vector<Index> all_units(const Dataset& data, const RModel& model) {
  require(!data.group_value || data.group_width == model.alloc->group_values(),
          "data$group_values are not those of the model");
  if (!model.alloc->grouped()) return modelled_rows(data.starts, model.obs->capabilities().lag);
  std::vector<Index> groups(static_cast<std::size_t>(data.n_groups()));
  std::iota(groups.begin(), groups.end(), Index{0});
  return groups;
}

namespace {

template <class Test>
std::vector<Index> units_where(const Dataset& data, const RModel& model, Test test) {
  const bool grouped = model.alloc->grouped();
  std::vector<Index> units;
  for (Index unit : all_units(data, model))
    if (test(grouped ? data.weight_of_group(unit) : data.weight_of(unit))) units.push_back(unit);
  return units;
}

}  // namespace

std::vector<Index> counted_units(const Dataset& data, const RModel& model) {
  return units_where(data, model, [](double weight) { return weight > 0; });
}

std::vector<Index> uncounted_units(const Dataset& data, const RModel& model) {
  return units_where(data, model, [](double weight) { return weight == 0; });
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
  const auto count = [](Index n) { return static_cast<int>(n); };
  return Rcpp::List::create(_["lap"] = count(r.lap), _["elbo"] = r.elbo, _["log_joint"] = r.log_joint,
                            _["k"] = count(r.k), _["births"] = count(r.births), _["merges"] = count(r.merges),
                            _["deletes"] = count(r.deletes), _["births_tried"] = count(r.births_tried),
                            _["merges_tried"] = count(r.merges_tried),
                            _["deletes_tried"] = count(r.deletes_tried), _["seconds"] = r.seconds);
}

namespace {

SEXP check_interrupt(void*) {
  R_CheckUserInterrupt();
  return R_NilValue;
}

SEXP evaluate(void* call) {
  Rf_eval(static_cast<SEXP>(call), R_BaseEnv);
  return R_NilValue;
}

// Result of body(argument), or TRUE if the user pressed Ctrl-C meanwhile.
struct Caught {
  SEXP (*body)(void*);
  void* argument;
};
SEXP catch_interrupt(void* caught) {
  const Caught& c = *static_cast<Caught*>(caught);
  const Rcpp::Shield<SEXP> kind(Rf_mkString("interrupt"));
  return R_tryCatch(
      c.body, c.argument, kind, [](SEXP, void*) { return Rf_ScalarLogical(TRUE); }, nullptr, nullptr,
      nullptr);
}

}  // namespace

bool RMonitor::stopped_in(SEXP (*body)(void*), void* argument) {
  Caught caught{body, argument};
  return (catches_ ? Rcpp::unwindProtect(catch_interrupt, &caught) : Rcpp::unwindProtect(body, argument)) !=
         R_NilValue;
}

void RMonitor::lap(const LapRecord& record) {
  if (progress_.isNull()) return;
  const Rcpp::Shield<SEXP> call(
      made_in_r([&] { return Rcpp::RObject(Rf_lang2(progress_.get(), record_to_r(record))); }));
  if (stopped_in(evaluate, call)) stopped_ = true;
}

bool RMonitor::interrupted() {
  return std::exchange(stopped_, false) || stopped_in(check_interrupt, nullptr);
}

RPool::RPool(Index asked, Monitor& monitor) : Pool(asked, monitor) {
  if (n_threads() >= asked) return;
  const Rcpp::Function warn("warn_of_threads", "bnpvi");
  warn(static_cast<double>(n_threads()), static_cast<double>(asked), static_cast<double>(most_threads()));
}

Query::Query(const Rcpp::List& data, const Rcpp::List& list, const Rcpp::List& state, int threads,
             const Sparsity& sparsity)
    : rdata(data),
      model(list, sparsity),
      view(rdata.view_for(*model.obs)),
      globals(state_from_r(state, model)),
      pool(threads, monitor) {
  require_positions(view, model);
  const std::vector<int>& owner = globals.effective.owner;
  require(!view.class_sets ||
              std::all_of(owner.begin(), owner.end(), [&](int c) { return c <= view.class_sets->n_classes; }),
          "state$owner has other classes than the data");
}

}  // namespace bnpvi
