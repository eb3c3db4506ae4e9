// An observation model, and what moves remember of pairs, laid open for the tests of their laws.
#include "failed_pairs.h"
#include "r_convert.h"

using namespace bnpvi;

namespace {

// A matrix in R's order that is filled row by row.
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

}  // namespace

// [[Rcpp::export]]
Rcpp::List engine_contract(Rcpp::List data, Rcpp::List model, Rcpp::NumericMatrix resp) {
  return entry([&] {
    const RData rdata(data);
    const RModel rmodel(model);
    const ObsModel& obs = *rmodel.obs;
    const std::vector<Index> rows = modelled_rows(rdata.view(), obs.lag());
    const Index n = static_cast<Index>(rows.size()), p = obs.n_features(), k = resp.ncol();
    if (resp.nrow() != n) throw std::invalid_argument("resp must have one row for every modelled row");

    Vec phi(static_cast<std::size_t>(n * p)), t(static_cast<std::size_t>(k * p), 0.0);
    obs.features(rdata.view(), rows.data(), n, phi.data(), p);
    for (Index j = 0; j < k; ++j)
      for (Index i = 0; i < n; ++i)
        for (Index f = 0; f < p; ++f) t[j * p + f] += resp[j * n + i] * phi[i * p + f];

    RowWriter features(n, p), statistic(k, p), weights(k, p), joint_weights(k, p), point_mean(k, p),
        point_weights(k, p);
    RowWriter predictive(n, k), definition(n, k);
    Rcpp::NumericVector evidence(k), joint_evidence(k);
    for (Index i = 0; i < n; ++i) features.row(i, &phi[i * p]);
    Vec w(static_cast<std::size_t>(p)), mean(w), log_p(static_cast<std::size_t>(n));
    for (Index j = 0; j < k; ++j) {
      const double* tj = &t[j * p];
      evidence[j] = obs.log_evidence(tj);
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
    using Rcpp::_;
    return Rcpp::List::create(
        _["features"] = features.matrix(), _["statistic"] = statistic.matrix(), _["evidence"] = evidence,
        _["weights"] = weights.matrix(), _["joint_evidence"] = joint_evidence,
        _["joint_weights"] = joint_weights.matrix(), _["point_mean"] = point_mean.matrix(),
        _["point_weights"] = point_weights.matrix(), _["log_predictive"] = predictive.matrix(),
        _["log_predictive_by_definition"] = definition.matrix(),
        _["posterior"] = arrays_to_r(obs.posterior(t.data(), k)),
        _["mean_parameters"] = arrays_to_r(obs.mean_parameters(t.data(), k)));
  });
}

// Pairs of clusters of size 10 (identities in two columns) that failed once each; then those with `gone` are
// forgotten in a copy: which of the pairs are worth trying again, and the number kept, before and after, for
// tests.
// [[Rcpp::export]]
Rcpp::List engine_failed_pairs(Rcpp::IntegerMatrix pairs, int gone) {
  return entry([&] {
    FailedPairs all;
    const auto cluster = [&](int i, int column) {
      return SizedCluster{static_cast<std::uint64_t>(pairs(i, column)), 10};
    };
    for (int i = 0; i < pairs.nrow(); ++i) all.failed(cluster(i, 0), cluster(i, 1), 1);
    FailedPairs without = all;
    without.forget(static_cast<std::uint64_t>(gone));
    Rcpp::LogicalMatrix worth(pairs.nrow(), 2);
    for (int i = 0; i < pairs.nrow(); ++i) {
      worth(i, 0) = all.worth_trying(cluster(i, 1), cluster(i, 0), 1);
      worth(i, 1) = without.worth_trying(cluster(i, 1), cluster(i, 0), 1);
    }
    return Rcpp::List::create(Rcpp::_["worth"] = worth,
                              Rcpp::_["kept"] = Rcpp::IntegerVector::create(all.size(), without.size()));
  });
}
