// Entries for tests of the laws of observation models (obs_model.h): they call each of their methods.
#include "observations/shape_lattice.h"
#include "r_convert.h"
#include "r_testing_entries.h"

using namespace bnpvi;

namespace {

// An R matrix that is filled row by row.
class RowWriter {
 public:
  RowWriter(Index rows, Index cols) : matrix_(static_cast<int>(rows), static_cast<int>(cols)) {}
  void row(Index i, const double* v) {
    for (int j = 0; j < matrix_.ncol(); ++j) matrix_(static_cast<int>(i), j) = v[j];
  }
  void column(Index j, const Vec& v) {
    std::copy(v.begin(), v.end(), matrix_.column(static_cast<int>(j)).begin());
  }
  const Rcpp::NumericMatrix& matrix() const { return matrix_; }

 private:
  Rcpp::NumericMatrix matrix_;
};

// An observation model and its modelled rows, with their features φ (n × p).
struct Observed {
  RData rdata;
  RModel rmodel;
  const ObsModel& obs;
  const Dataset& view;
  const std::vector<Index> rows;
  const Index n, p;
  Vec phi;

  Observed(const Rcpp::List& data, const Rcpp::List& model)
      : rdata(data),
        rmodel(model),
        obs(*rmodel.obs),
        view(rdata.view_for(obs)),
        rows(modelled_rows(view.starts, obs.capabilities().lag)),
        n(static_cast<Index>(rows.size())),
        p(obs.n_features()),
        phi(static_cast<std::size_t>(n * p)) {
    obs.features(view, rows.data(), n, phi.data(), p);
  }
};

// The abilities of a model, named like the fields of Capabilities.
Rcpp::CharacterVector engine_capabilities(Rcpp::List obs) {
  const auto model = make_obs_model(ListFields(obs));
  const Capabilities can = model->capabilities();
  const std::pair<const char*, bool> fields[] = {
      {"lag", can.lag > 0},       {"linear", can.linear},
      {"far_rows", can.far_rows}, {"wide_sums", can.wide_sums},
      {"entries", can.entries},   {"cells", can.cells},
      {"gaps", can.gaps},         {"base", can.base},
      {"tokens", can.tokens},     {"prior", can.prior},
      {"units", can.units},       {"row_estimates", can.row_estimates},
      {"urn", can.urn},           {"times", can.times},
      {"names", can.names},       {"individuals", can.individuals}};
  Rcpp::CharacterVector out;
  for (const auto& [name, has] : fields)
    if (has) out.push_back(name);
  return out;
}

Rcpp::List engine_contract(Rcpp::List data, Rcpp::List model, Rcpp::NumericMatrix resp) {
  return entry([&] {
    const Observed given(data, model);
    const ObsModel& obs = given.obs;
    const Index n = given.n, p = given.p;
    const Vec& phi = given.phi;
    const Index k = resp.ncol();
    require(resp.nrow() == n, "resp has not one row for every modelled row");

    Vec t(static_cast<std::size_t>(k * p), 0.0);
    for (Index j = 0; j < k; ++j)
      for (Index i = 0; i < n; ++i)
        for (Index f = 0; f < p; ++f) t[j * p + f] += resp[j * n + i] * phi[i * p + f];

    RowWriter features(n, p), statistic(k, p), weights(k, p), joint_weights(k, p), point_mean(k, p),
        point_weights(k, p);
    RowWriter predictive(n, k), definition(n, k);
    Rcpp::NumericVector evidence(k), joint_evidence(k), rough(k);
    for (Index i = 0; i < n; ++i) features.row(i, &phi[i * p]);
    Vec w(static_cast<std::size_t>(p)), mean(w), log_p(static_cast<std::size_t>(n));
    for (Index j = 0; j < k; ++j) {
      const double* tj = &t[j * p];
      evidence[j] = obs.log_evidence(tj);
      {
        const FewPoints enough;
        rough[j] = obs.log_evidence(tj);
      }
      statistic.row(j, tj);
      obs.weights(tj, w.data());
      weights.row(j, w.data());
      joint_evidence[j] = obs.evidence_and_weights(tj, w.data());
      joint_weights.row(j, w.data());
      obs.point_estimate(tj, mean.data(), w.data());
      point_mean.row(j, mean.data());
      point_weights.row(j, w.data());
      obs.log_predictive(tj, phi.data(), n, p, log_p.data());
      predictive.column(j, log_p);
      obs.ObsModel::log_predictive(tj, phi.data(), n, p, log_p.data());
      definition.column(j, log_p);
    }
    RowWriter row_mean(n, p), row_weights(n, p);
    const auto estimates = row_estimates_of(obs);
    for (Index i = 0; i < n; ++i) {
      double times = 0;
      for (Index j = 0; j < k; ++j) times += resp[j * n + i];
      estimates->row_estimate(&phi[i * p], times, mean.data(), w.data());
      row_mean.row(i, mean.data());
      row_weights.row(i, w.data());
    }
    Rcpp::NumericVector log_base(static_cast<int>(n));
    base_of(obs).log_base(given.view, given.rows.data(), n, log_base.begin());
    using Rcpp::_;
    Rcpp::List out = Rcpp::List::create(
        _["log_base"] = log_base, _["has_base"] = obs.capabilities().base != nullptr,
        _["features"] = features.matrix(), _["statistic"] = statistic.matrix(), _["evidence"] = evidence,
        _["weights"] = weights.matrix(), _["joint_evidence"] = joint_evidence,
        _["joint_weights"] = joint_weights.matrix(), _["point_mean"] = point_mean.matrix(),
        _["point_weights"] = point_weights.matrix(), _["log_predictive"] = predictive.matrix(),
        _["log_predictive_by_definition"] = definition.matrix(),
        _["posterior"] = arrays_to_r(obs.posterior(t.data(), k)),
        _["mean_parameters"] = arrays_to_r(obs.mean_parameters(t.data(), k)));
    out.push_back(rough, "rough_evidence");
    out.push_back(row_mean.matrix(), "row_mean");
    out.push_back(row_weights.matrix(), "row_weights");
    return out;
  });
}

// Learns the prior of an observation model `times` times from clusters with a statistic (K × p).
// `objective`: Σ used_evidence + log hyperprior before and after each time, `log_hyperprior` likewise, and
// the final fields. If the prior cannot be learned, there is only the first objective.
Rcpp::List engine_learned(Rcpp::List obs, Rcpp::NumericMatrix statistic, int times) {
  return entry([&] {
    std::shared_ptr<const ObsModel> model = make_obs_model(ListFields(obs));
    const Index k = statistic.nrow(), p = model->n_features();
    require(statistic.ncol() == p, "statistic has not a column for each feature");
    Vec t(static_cast<std::size_t>(k * p));
    for (Index j = 0; j < k; ++j)
      for (Index i = 0; i < p; ++i) t[j * p + i] = statistic(static_cast<int>(j), static_cast<int>(i));
    Vec objective, density;
    for (int i = 0; i <= times; ++i) {
      if (i > 0) {
        std::shared_ptr<const ObsModel> next =
            prior_of(*model).learned(t.data(), k, PriorSteps::search, nullptr);
        if (!next) break;
        model = std::move(next);
      }
      density.push_back(prior_of(*model).log_hyperprior());
      objective.push_back(density.back());
      for (Index j = 0; j < k; ++j) objective.back() += used_evidence(*model, &t[j * p]);
    }
    return Rcpp::List::create(Rcpp::_["objective"] = objective, Rcpp::_["log_hyperprior"] = density,
                              Rcpp::_["fields"] = arrays_to_r(prior_of(*model).learned_fields()));
  });
}

// Converts statistics (K × p) from the observation model `from` to `to` (re_express()).
Rcpp::NumericMatrix engine_re_express(Rcpp::List from, Rcpp::List to, Rcpp::NumericMatrix statistic) {
  return entry([&] {
    const auto before = make_obs_model(ListFields(from)), after = make_obs_model(ListFields(to));
    require(statistic.ncol() == after->n_features(), "statistic has not a column for each feature");
    Rcpp::NumericMatrix out(statistic.nrow(), statistic.ncol());
    for (int j = 0; j < statistic.nrow(); ++j) {
      Rcpp::NumericVector t = statistic.row(j);
      units_of(*after).re_express(*before, t.begin());
      out.row(j) = t;
    }
    return out;
  });
}

// `times` draws of a cluster's parameters given rows with weights `resp`: w of each draw (times × p), φ of
// the rows, and ∇Λ.
Rcpp::List engine_parameter_draws(Rcpp::List data, Rcpp::List model, Rcpp::NumericVector resp, int times,
                                  double seed) {
  return entry([&] {
    const Observed given(data, model);
    const ObsModel& obs = given.obs;
    const Index n = given.n, p = given.p;
    const Vec& phi = given.phi;
    require(resp.size() == n, "resp has not one number for every modelled row");
    Vec t(static_cast<std::size_t>(p), 0.0), w(t);
    RowWriter features(n, p), draws(times, p), mean(1, p);
    for (Index i = 0; i < n; ++i) {
      features.row(i, &phi[i * p]);
      for (Index f = 0; f < p; ++f) t[f] += resp[i] * phi[i * p + f];
    }
    Stream stream(static_cast<std::uint64_t>(seed), Purpose::test);
    for (int i = 0; i < times; ++i) {
      obs.draw(t.data(), stream, w.data());
      draws.row(i, w.data());
    }
    obs.weights(t.data(), w.data());
    mean.row(0, w.data());
    Vec log_p(static_cast<std::size_t>(n));
    obs.log_predictive(t.data(), phi.data(), n, p, log_p.data());
    return Rcpp::List::create(Rcpp::_["draws"] = draws.matrix(), Rcpp::_["features"] = features.matrix(),
                              Rcpp::_["weights"] = mean.matrix(), Rcpp::_["log_predictive"] = log_p);
  });
}

// An urn that contains the given rows (numbers among the modelled ones), after `steps` random additions and
// removals of other rows. `predictive`: of all rows under this urn and under an empty one; `again`: the same
// after fill_urn(); `statistic`: its T; `fresh`: T computed from the rows that it contains at the end.
Rcpp::List engine_urn(Rcpp::List data, Rcpp::List model, Rcpp::IntegerVector first, int steps, double seed) {
  return entry([&] {
    const Observed given(data, model);
    const ObsModel& obs = given.obs;
    const Index n = given.n, p = given.p;
    const Vec& phi = given.phi;
    const auto urn = urn_of(obs);
    const Index size = urn->urn_size();
    Vec urns(static_cast<std::size_t>(2 * size), 0.0);
    std::vector<char> in(static_cast<std::size_t>(n), 0);
    const auto gather = [&](double* t, Index i, double sign = 1) {
      for (Index f = 0; f < p; ++f) t[f] += sign * phi[i * p + f];
    };
    for (int i : first) {
      gather(urns.data(), i - 1);
      in[i - 1] = 1;
    }
    Index count = first.size();
    urn->fill_urn(urns.data());
    urn->fill_urn(urns.data() + size);
    Stream stream(static_cast<std::uint64_t>(seed), Purpose::test);
    for (int step = 0; step < steps; ++step) {
      const Index i = stream.index(n);
      if (in[i] && count == 1) continue;
      const double sign = in[i] ? -1 : 1;
      gather(urns.data(), i, sign);
      urn->refill_urn(urns.data(), &phi[i * p], sign);
      count += in[i] ? -1 : 1;
      in[i] = !in[i];
    }
    Vec fresh(static_cast<std::size_t>(p), 0.0), none(fresh), log_p(static_cast<std::size_t>(n)), pair(2);
    for (Index i = 0; i < n; ++i)
      if (in[i]) gather(fresh.data(), i);
    RowWriter predictive(n, 2), again(n, 2);
    for (Index i = 0; i < n; ++i) {
      urn->urn_predictives(urns.data(), 2, &phi[i * p], pair.data());
      predictive.row(i, pair.data());
    }
    obs.log_predictive(fresh.data(), phi.data(), n, p, log_p.data());
    again.column(0, log_p);
    obs.log_predictive(none.data(), phi.data(), n, p, log_p.data());
    again.column(1, log_p);
    return Rcpp::List::create(Rcpp::_["predictive"] = predictive.matrix(), Rcpp::_["again"] = again.matrix(),
                              Rcpp::_["statistic"] = Vec(urns.begin(), urns.begin() + p),
                              Rcpp::_["fresh"] = fresh, Rcpp::_["rows"] = static_cast<int>(count));
  });
}

const testing::Entry entries[] = {
    {"engine_capabilities", {"obs"}, engine_capabilities},
    {"engine_contract", {"data", "model", "resp"}, engine_contract},
    {"engine_learned", {"obs", "statistic", "times"}, engine_learned},
    {"engine_re_express", {"from", "to", "statistic"}, engine_re_express},
    {"engine_parameter_draws", {"data", "model", "resp", "times", "seed"}, engine_parameter_draws},
    {"engine_urn", {"data", "model", "first", "steps", "seed"}, engine_urn},
};

}  // namespace
