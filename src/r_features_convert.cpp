#include "r_features.h"

#include <algorithm>

#include "r_source.h"

namespace bnpvi {

using namespace features;

namespace {

LinearGaussianPrior likelihood_of(const Rcpp::List& list) {
  const ListFields f(list);
  return {f.number("noise_shape"), f.number("noise_rate"), f.number("loading_shape"),
          f.number("loading_rate"), f.has("precision") ? f.number("precision") : 0};
}

Vec matrix_from_r(const Rcpp::NumericMatrix& x) {
  Vec out;
  for (int i = 0; i < x.nrow(); ++i)
    for (int j = 0; j < x.ncol(); ++j) out.push_back(x(i, j));
  return out;
}

// Number of groups of columns in an earlier fit.
Index groups_of(const Rows& rows) {
  const auto ends = std::minmax_element(rows.parent.begin(), rows.parent.end());
  require(ends.first != rows.parent.end() && *ends.first >= 0, "groups of columns are numbers from 0");
  return *ends.second + 1;
}

// The statistics of a state, for rows whose groups of columns are parts of the state's groups.
Summary statistics_from_r(const Rcpp::List& state, const Rows& rows) {
  const auto counts = Rcpp::as<Vec>(state["counts"]), pair = Rcpp::as<Vec>(state["pair"]);
  const Index k = static_cast<Index>(counts.size());
  Summary out(summary_shape(rows), k);
  const Vec extra = matrix_from_r(state["extra"]), scalar = Rcpp::as<Vec>(state["scalar"]);
  const Index earlier = k > 0 ? static_cast<Index>(pair.size()) / (k * k) : groups_of(rows),
              pairs = out.shape.pairs;
  require(extra.size() == out.extra.size() && static_cast<Index>(pair.size()) == earlier * k * k &&
              groups_of(rows) <= earlier && scalar.size() == out.scalar.size(),
          "a state of features does not fit the columns");
  std::copy(counts.begin(), counts.end(), out.obs.edit().begin());
  out.extra = extra;
  out.scalar = scalar;
  for (Index e = 0; e < k * k; ++e)
    for (Index g = 0; g < pairs; ++g)
      if (g == 0 || rows.parent[g] > 0)
        out.pair[e * pairs + g] = pair[e * earlier + (g == 0 ? 0 : rows.parent[g])];
  return out;
}

}  // namespace

FeatureModel::FeatureModel(const Rcpp::List& model)
    : offset(Rcpp::as<bool>(model["offset"]) ? 1 : 0),
      likelihood(likelihood_of(Rcpp::List(model["likelihood"]))),
      prior(make_feature_prior(ListFields(Rcpp::List(model["prior"])))),
      group_(Rcpp::as<std::vector<int>>(model["group"])) {
  const ListFields f(model);
  if (f.has("unit")) units_ = {f.numbers("centre"), f.numbers("unit")};
}

Rows FeatureModel::rows(std::shared_ptr<const Source> source, bool keep) const {
  const auto d = static_cast<std::size_t>(source->shape().d);
  require(
      group_.size() == d && (units_.unit.empty() || (units_.unit.size() == d && units_.centre.size() == d)),
      "the model of features has not a group, centre and unit for each column");
  return {std::move(source), units_, group_, keep};
}

FeatureData::FeatureData(const Rcpp::List& data) {
  const ListFields f(data);
  if (!f.has("spool")) {
    rdata_ = std::make_unique<RData>(data);
    require(!rdata_->view().sparse(), "features of sparse rows");
    return;
  }
  spool_ = std::make_shared<const Spool>(f.text("spool"));
  const DataShape& shape = spool_->index().shape;
  require(shape.n == f.integer("n") && shape.d == f.integer("d") && !shape.sparse,
          "the spool does not have the rows and columns of the data");
}

Rows FeatureData::dealt(const FeatureModel& model, const Rcpp::List& control, std::uint64_t key) const {
  if (spool_) {
    std::vector<Index> starts{0, spool_->index().shape.n};
    return model.rows(std::make_shared<SpoolSource>(spool_, std::move(starts), false, nullptr, false), false);
  }
  const ListFields c(control);
  const Dataset& view = rdata_->view();
  const Index most = std::max<Index>(view.n, 1),
              batches = c.text("algorithm") == "full" ? 1 : std::clamp<Index>(c.integer("batches"), 1, most);
  std::vector<std::vector<Index>> units;
  if (c.has("batch_of")) {
    units.resize(static_cast<std::size_t>(batches));
    const auto batch_of = Rcpp::as<std::vector<int>>(control["batch_of"]);
    require(static_cast<Index>(batch_of.size()) == view.n, "control$batch_of has not a number for each row");
    for (Index i = 0; i < view.n; ++i) units.at(static_cast<std::size_t>(batch_of[i] - 1)).push_back(i);
  } else {
    units = deal_batches(view.n, batches, key);
  }
  const std::string kind = c.has("source") ? c.text("source") : "memory";
  return model.rows(make_source(kind, view, std::move(units), false, 0), kind == "memory");
}

Rows FeatureData::whole(const FeatureModel& model) const {
  return model.rows(std::make_shared<MemorySource>(rdata_->view(), deal_batches(rdata_->view().n, 1, 0)),
                    true);
}

Rcpp::NumericMatrix matrix_to_r(const Vec& values, Index rows, Index cols) {
  Rcpp::NumericMatrix out(static_cast<int>(rows), static_cast<int>(cols));
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) out(static_cast<int>(i), static_cast<int>(j)) = values[i * cols + j];
  return out;
}

Rcpp::List state_to_r(const FeatureState& state, const Rows& rows) {
  using Rcpp::_;
  const Summary& s = state.total;
  Rcpp::List inverse;
  for (const Vec& v : state.loadings.v_inverse)
    inverse.push_back(matrix_to_r(v, v.empty() ? 0 : s.k, v.empty() ? 0 : s.k));
  Rcpp::NumericVector pair(s.pair.begin(), s.pair.end());
  pair.attr("dim") = Rcpp::IntegerVector::create(static_cast<int>(s.shape.pairs), static_cast<int>(s.k),
                                                 static_cast<int>(s.k));
  return Rcpp::List::create(_["k"] = static_cast<int>(state.k()), _["counts"] = s.sizes(),
                            _["extra"] = matrix_to_r(s.extra, s.k, s.shape.q), _["pair"] = pair,
                            _["scalar"] = s.scalar, _["group"] = rows.group,
                            _["loadings"] = matrix_to_r(state.loadings.m, s.k, rows.d),
                            _["inverse"] = inverse, _["noise"] = Vec{state.loadings.a, state.loadings.b},
                            _["precision"] = Vec{state.loadings.c, state.loadings.d, state.loadings.rho},
                            _["logit"] = state.weights.logit, _["prob"] = state.weights.prob,
                            _["stick"] = state.weights.stick, _["alpha"] = state.weights.alpha);
}

Loadings loadings_from_r(const Rcpp::List& state, const Rows& rows) {
  Loadings out;
  const Rcpp::NumericMatrix loadings(static_cast<SEXP>(state["loadings"]));
  out.m = matrix_from_r(loadings);
  out.k = loadings.nrow();
  const Rcpp::List inverse = state["inverse"];
  require(loadings.ncol() == rows.d && groups_of(rows) <= inverse.size(),
          "the loadings of features do not fit the columns");
  for (int parent : rows.parent) {
    const Rcpp::NumericMatrix own(static_cast<SEXP>(inverse[parent]));
    require(own.nrow() == own.ncol() && (own.nrow() == out.k || own.nrow() == 0),
            "the loadings of features have no variance for each feature");
    out.v_inverse.push_back(matrix_from_r(own));
  }
  const auto noise = Rcpp::as<Vec>(state["noise"]);
  out.a = noise.at(0);
  out.b = noise.at(1);
  add_gram(rows, out);
  return out;
}

Rcpp::List presence_to_r(const std::vector<std::shared_ptr<const Presence>>& presence, const Rows& rows,
                         const std::vector<int>& id) {
  const std::vector<int> place = places_of(id);
  std::vector<int> row, feature;
  Vec value;
  for (Index b = 0; b < rows.n_batches(); ++b) {
    const Presence& p = *presence[b];
    const auto batch = rows.open(b);
    for (Index i = 0; i < p.rows(); ++i)
      for (Index e = p.start[i]; e < p.start[i + 1]; ++e) {
        const auto j = static_cast<std::size_t>(p.feature[e]);
        if (j >= place.size() || place[j] < 0) continue;
        row.push_back(static_cast<int>(batch->number[i]) + 1);
        feature.push_back(place[j] + 1);
        value.push_back(p.value[e]);
      }
  }
  return Rcpp::List::create(Rcpp::_["row"] = row, Rcpp::_["feature"] = feature, Rcpp::_["value"] = value);
}

FeatureState starting_state(const FeatureProblem& problem, SEXP start) {
  const Rows& rows = problem.rows;
  if (!Rf_isNull(start)) {
    const Rcpp::List list(start);
    if (list.containsElementNamed("state"))
      return state_from(problem, statistics_from_r(list["state"], rows),
                        list.containsElementNamed("settled"));
    const Rcpp::NumericMatrix nu(static_cast<SEXP>(list["presence"]));
    require(nu.nrow() == rows.n, "start$presence has not a row for each row");
    std::vector<Presence> presence(static_cast<std::size_t>(rows.n_batches()));
    for (Index b = 0; b < rows.n_batches(); ++b) {
      const auto batch = rows.open(b);
      for (Index row : batch->number) {
        for (int j = 0; j < nu.ncol(); ++j) {
          const double value = nu(static_cast<int>(row), j);
          if (value > 0) presence[b].add(j, value);
        }
        presence[b].end_row();
      }
    }
    return state_of(problem, nu.ncol(), std::move(presence));
  }
  std::vector<Presence> none;
  for (Index n : rows.batch_rows) none.push_back(no_presence(n));
  return state_of(problem, 0, std::move(none));
}

}  // namespace bnpvi
