// Entries that evaluate a fitted model on data.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "foundation/fingerprint.h"
#include "inference/start/start.h"
#include "observations/named_clusters.h"
#include "observations/obs_product.h"
#include "r_query.h"

using namespace bnpvi;

namespace {

// Writes responsibilities into an R matrix (n × K).
class ToMatrix final : public ResponsibilitySink {
 public:
  explicit ToMatrix(Rcpp::NumericMatrix& out) : out_(out.begin()), n_(out.nrow()) {}
  void begin(Index) override {}
  void visit(Index, const Index* rows, const Responsibilities& r, FeatureBlock&) override {
    for (Index i = 0; i < r.n; ++i)
      for (Index l = 0; l < r.width; ++l) {
        const Index j = r.sparse ? r.cluster[i * r.width + l] : l;
        out_[j * n_ + rows[i]] = r.value[i * r.width + l];
      }
  }

 private:
  double* out_;
  Index n_;
};

}  // namespace

// [[Rcpp::export]]
Rcpp::NumericMatrix engine_responsibilities(Rcpp::List data, Rcpp::List model, Rcpp::List state,
                                            int threads) {
  return entry([&] {
    Query q(data, model, state, threads);
    const std::vector<Index> units = all_units(q.data(), q.model);
    Rcpp::NumericMatrix out =
        made_in_r([&] { return Rcpp::NumericMatrix(static_cast<int>(q.data().n), static_cast<int>(q.k())); });
    ToMatrix sink(out);
    q.model.alloc->local_step({q.data(), units, q.obs(), q.globals, q.weights(), q.pool, &sink});
    return out;
  });
}

namespace {

// Calls each(row, of_row, sum, log_scale) for every modelled row of a mixture with these weights. of_row[j]:
// contribution of cluster j to the density of the row, divided by exp(log_scale); sum: of these. weight:
// sets of weights × clusters of the engine, perhaps with a last column for a cluster not seen yet; slot: for
// each row the number of its set of weights, from 1; empty if there is only one set.
template <class Each>
void for_shares(Query& q, const Rcpp::NumericMatrix& weight, const Rcpp::IntegerVector& slot, DensityAt at,
                Each each) {
  const Index k = weight.ncol(), slots = weight.nrow(), n = q.data().n;
  require(k == q.k() || k == q.k() + 1, "weight has not a column for each cluster");
  require(slot.size() == n || (slot.size() == 0 && slots == 1), "slot has not a number for each row");
  require(std::all_of(slot.begin(), slot.end(), [&](int s) { return 1 <= s && s <= slots; }),
          "slots of rows");
  const double* const pi = weight.begin();
  const int* const at_slot = slot.size() ? slot.begin() : nullptr;
  const ClusterDensities densities(q.obs(), q.globals.effective.obs, k, at, q.globals.effective.names.of);
  for_densities(q, densities, [&](Index row, Vec& of_row, double base) {
    const double* const own = pi + (at_slot ? at_slot[row] - 1 : 0);
    double top = -INFINITY, sum = 0;
    for (Index j = 0; j < k; ++j)
      if (own[j * slots] > 0) top = std::max(top, of_row[j]);
    for (Index j = 0; j < k; ++j) {
      const double weight_of = own[j * slots];
      of_row[j] = weight_of > 0 ? weight_of * std::exp(of_row[j] - top) : 0;
      sum += of_row[j];
    }
    each(row, of_row, sum, top + base);
  });
}

std::vector<Index> columns_from_zero(const Rcpp::IntegerVector& column, int k) {
  std::vector<Index> out(column.begin(), column.end());
  for (Index& at : out) --at;
  require(
      column.size() == k && std::all_of(out.begin(), out.end(), [&](Index at) { return 0 <= at && at < k; }),
      "columns of weight");
  return out;
}

// A copy of the model that takes rows as exact values where the fit took them as rounded.
Rcpp::List of_values(const Rcpp::List& model) {
  Rcpp::List out(Rf_shallow_duplicate(model));
  for (R_xlen_t i = 0; i < out.size(); ++i)
    if (TYPEOF(out[i]) == VECSXP) out[i] = of_values(VECTOR_ELT(out, i));
  if (out.containsElementNamed("rounding") && TYPEOF(out["rounding"]) == REALSXP) {
    out.push_back(out["rounding"], "zero_cells");  // a 0 is no value if values are above 0
    out["rounding"] = Rcpp::NumericVector(Rf_length(out["rounding"]));
  }
  return out;
}

}  // namespace

// log p(x) of rows under a mixture of the clusters' posterior predictives and that of a cluster not seen
// yet. Weights are their means, or given (for_shares()). `plugin`: point estimates of the clusters, with
// weights that sum to 1. NA for rows that are not modelled.
// [[Rcpp::export]]
Rcpp::NumericVector engine_log_predictive(Rcpp::List data, Rcpp::List model, Rcpp::List state, bool plugin,
                                          int threads,
                                          Rcpp::Nullable<Rcpp::NumericMatrix> given_weight = R_NilValue,
                                          Rcpp::Nullable<Rcpp::IntegerVector> given_slot = R_NilValue) {
  return entry([&] {
    Query q(data, of_values(model), state, threads);
    Vec pi = q.model.alloc->mean_weights(q.globals);
    if (plugin) {
      pi.resize(static_cast<std::size_t>(q.k()));
      const double all = std::accumulate(pi.begin(), pi.end(), 0.0);
      for (double& x : pi) x /= all;
    }
    const Rcpp::NumericMatrix weight = given_weight.isNotNull()
                                           ? Rcpp::NumericMatrix(given_weight.get())
                                           : Rcpp::NumericMatrix(1, static_cast<int>(pi.size()), pi.begin());
    const Rcpp::IntegerVector slot =
        given_slot.isNotNull() ? Rcpp::IntegerVector(given_slot.get()) : Rcpp::IntegerVector(0);
    Rcpp::NumericVector out =
        made_in_r([&] { return Rcpp::NumericVector(static_cast<int>(q.data().n), NA_REAL); });
    double* value = out.begin();
    for_shares(
        q, weight, slot, plugin ? DensityAt::point_estimate : DensityAt::posterior,
        [&](Index row, const Vec&, double sum, double log_scale) { value[row] = std::log(sum) + log_scale; });
    return out;
  });
}

// p(cluster | x) of rows in the same mixture, rows × columns of weight. column: for each column of weight,
// the number, from 1, of the result's column that it fills.
// [[Rcpp::export]]
Rcpp::NumericMatrix engine_probabilities(Rcpp::List data, Rcpp::List model, Rcpp::List state,
                                         Rcpp::NumericMatrix weight, Rcpp::IntegerVector slot,
                                         Rcpp::IntegerVector column, int threads) {
  return entry([&] {
    Query q(data, of_values(model), state, threads);
    const Index n = q.data().n;
    const std::vector<Index> to = columns_from_zero(column, weight.ncol());
    Rcpp::NumericMatrix out =
        made_in_r([&] { return Rcpp::NumericMatrix(static_cast<int>(n), weight.ncol()); });
    std::fill(out.begin(), out.end(), NA_REAL);
    double* value = out.begin();
    for_shares(q, weight, slot, DensityAt::posterior, [&](Index row, const Vec& share, double sum, double) {
      for (std::size_t j = 0; j < share.size(); ++j) value[to[j] * n + row] = share[j] / sum;
    });
    return out;
  });
}

// For each row the number, from 1, of the largest column of that matrix (the first if several are equal); NA
// for rows that are not modelled.
// [[Rcpp::export]]
Rcpp::IntegerVector engine_most_probable(Rcpp::List data, Rcpp::List model, Rcpp::List state,
                                         Rcpp::NumericMatrix weight, Rcpp::IntegerVector slot,
                                         Rcpp::IntegerVector column, int threads) {
  return entry([&] {
    Query q(data, of_values(model), state, threads);
    const std::vector<Index> to = columns_from_zero(column, weight.ncol());
    Rcpp::IntegerVector out =
        made_in_r([&] { return Rcpp::IntegerVector(static_cast<int>(q.data().n), NA_INTEGER); });
    int* value = out.begin();
    for_shares(q, weight, slot, DensityAt::posterior, [&](Index row, const Vec& share, double sum, double) {
      double top = -1;
      Index best = 0;
      for (std::size_t j = 0; j < share.size(); ++j) {
        const double p = share[j] / sum;
        if (std::isnan(p)) return;
        if (p > top || (p == top && to[j] < best)) {
          top = p;
          best = to[j];
        }
      }
      value[row] = static_cast<int>(best) + 1;
    });
    return out;
  });
}

// E log p(x | cluster), n × K, including the base measure; NA for rows that are not modelled.
// [[Rcpp::export]]
Rcpp::NumericMatrix engine_expected_logs(Rcpp::List data, Rcpp::List model, Rcpp::List state, int threads) {
  return entry([&] {
    Query q(data, model, state, threads);
    const Index n = q.data().n, k = q.k();
    Rcpp::NumericMatrix out =
        made_in_r([&] { return Rcpp::NumericMatrix(static_cast<int>(n), static_cast<int>(k)); });
    std::fill(out.begin(), out.end(), NA_REAL);
    double* value = out.begin();
    const Weights weights = make_weights(q.obs(), q.globals.effective.obs.data(), k, nullptr, nullptr, true,
                                         q.globals.effective.names.of);
    for_blocks(q, [&](FeatureBlock& block, const Index* rows, Index rows_here) {
      Vec c(static_cast<std::size_t>(rows_here * k)), base(static_cast<std::size_t>(rows_here));
      block.times(weights, c.data());
      base_of(q.obs()).log_base(q.data(), rows, rows_here, base.data());
      for (Index i = 0; i < rows_here; ++i)
        for (Index j = 0; j < k; ++j) value[j * n + rows[i]] = c[i * k + j] + base[i];
    });
    return out;
  });
}

// Fingerprint of the data; row_number: numbers of rows, from 1, or empty.
// [[Rcpp::export]]
std::string engine_fingerprint(Rcpp::List data, Rcpp::IntegerVector row_number) {
  return entry([&] {
    const RData view(data);
    const Index n = view.view().n;
    require(row_number.size() == 0 || row_number.size() == n,
            "row_number has " + std::to_string(row_number.size()) + " rows");
    std::vector<int> from_zero(row_number.begin(), row_number.end());
    for (int& row : from_zero) --row;
    std::uint64_t rest = fingerprint(view.view(), from_zero.empty() ? nullptr : from_zero.data());
    std::string text(16, '0');
    for (auto digit = text.rbegin(); digit != text.rend(); ++digit, rest /= 16)
      *digit = "0123456789abcdef"[rest % 16];
    return text;
  });
}

// Throws if a state does not fit the model.
// [[Rcpp::export]]
void engine_check_state(Rcpp::List model, Rcpp::List state) {
  entry([&] { state_from_r(state, RModel(model)); });
}

// [[Rcpp::export]]
double engine_strain(Rcpp::List obs) {
  return entry([&] { return units_of(*make_obs_model(ListFields(obs))).strain(); });
}

// [[Rcpp::export]]
Rcpp::List engine_posterior(Rcpp::List model, Rcpp::List state) {
  return entry([&] {
    const RModel rmodel(model);
    const Globals globals = state_from_r(state, rmodel);
    const Summary& s = globals.effective;
    NamedArrays all = posterior_of(*rmodel.obs, s.obs.data(), s.k, s.names.of);
    for (NamedArray& a : rmodel.alloc->posterior(globals)) all.push_back(std::move(a));
    return arrays_to_r(all);
  });
}

// The arrays of the observation model for a cluster without rows.
// [[Rcpp::export]]
Rcpp::List engine_prior_parameters(Rcpp::List obs) {
  return entry([&] {
    const std::unique_ptr<ObsModel> model = make_obs_model(ListFields(obs));
    const Vec nothing(static_cast<std::size_t>(model->n_features()), 0.0);
    return arrays_to_r(model->posterior(nothing.data(), 1));
  });
}

// For each name, the nats by which it raises the evidence of the cluster that has it.
// [[Rcpp::export]]
Rcpp::NumericVector engine_gains_of_names(Rcpp::List model, Rcpp::List state) {
  return entry([&]() -> Rcpp::NumericVector {
    const RModel rmodel(model);
    const Summary s = state_from_r(state, rmodel).effective;
    const NamedClusters* names = rmodel.obs->capabilities().names;
    require(names && s.names.any(), "clusters have no names");
    Vec of_cluster(static_cast<std::size_t>(names->n_names())), out(of_cluster.size());
    for (Index j = 0; j < s.k; ++j) {
      if (s.names.of[j] == 0) continue;
      names->gains(s.t(j), of_cluster.data());
      out[s.names.of[j] - 1] = of_cluster[s.names.of[j] - 1];
    }
    return Rcpp::wrap(out);
  });
}

// E π of the clusters in use and, last, of one that has not been seen yet.
// [[Rcpp::export]]
Rcpp::NumericVector engine_mean_weights(Rcpp::List model, Rcpp::List state) {
  return entry([&]() -> Rcpp::NumericVector {
    const RModel rmodel(model);
    return Rcpp::wrap(rmodel.alloc->mean_weights(state_from_r(state, rmodel)));
  });
}

// [[Rcpp::export]]
Rcpp::List engine_mean_parameters(Rcpp::List model, Rcpp::List state) {
  return entry([&] {
    const RModel rmodel(model);
    const Globals globals = state_from_r(state, rmodel);
    const Summary& s = globals.effective;
    NamedArrays all = mean_parameters_of(*rmodel.obs, s.obs.data(), s.k, s.names.of);
    Vec weights = rmodel.alloc->mean_weights(globals);
    weights.resize(static_cast<std::size_t>(globals.effective.k));
    all.push_back({"weights", std::move(weights), {}});
    return arrays_to_r(all);
  });
}

// Converts statistics (K × p) of rows without gaps from the observation model `from` to `to`, the same model
// with gaps.
// [[Rcpp::export]]
Rcpp::NumericMatrix engine_complete_to_gaps(Rcpp::List from, Rcpp::List to, Rcpp::NumericMatrix statistic) {
  return entry([&] {
    const auto before = make_obs_model(ListFields(from)), after = make_obs_model(ListFields(to));
    require(statistic.ncol() == before->n_features(), "statistic has not a column for each feature");
    Rcpp::NumericMatrix out(statistic.nrow(), static_cast<int>(after->n_features()));
    Vec with_gaps(static_cast<std::size_t>(after->n_features()));
    for (int k = 0; k < statistic.nrow(); ++k) {
      const Rcpp::NumericVector t = statistic.row(k);
      complete_to_gaps(*before, t.begin(), *after, with_gaps.data());
      std::copy(with_gaps.begin(), with_gaps.end(), out.row(k).begin());
    }
    return out;
  });
}
