// Entries for tests: clusters with names.
#include "inference/learn/rename.h"
#include "observations/named_clusters.h"
#include "r_convert.h"
#include "r_testing_entries.h"

using namespace bnpvi;

namespace {

Vec rows_of(const Rcpp::NumericMatrix& m) {
  Vec out;
  for (int i = 0; i < m.nrow(); ++i)
    for (int j = 0; j < m.ncol(); ++j) out.push_back(m(i, j));
  return out;
}

Rcpp::NumericMatrix matrix_of(const Vec& rows, Index n) {
  Rcpp::NumericMatrix out(static_cast<int>(n), static_cast<int>(rows.size() / static_cast<std::size_t>(n)));
  for (int i = 0; i < out.nrow(); ++i)
    for (int j = 0; j < out.ncol(); ++j) out(i, j) = rows[static_cast<std::size_t>(i * out.ncol() + j)];
  return out;
}

// For clusters with a statistic (K × p) under their names: Λ and its gradient, Λ as returned with the
// gradient, the gain of each name (K × names), and the predictive of rows with features phi under each
// cluster (rows × K).
Rcpp::List engine_named(Rcpp::List obs, Rcpp::NumericMatrix statistic, Rcpp::IntegerVector names,
                        Rcpp::NumericMatrix phi) {
  return entry([&] {
    const auto model = make_obs_model(ListFields(obs));
    const NamedClusters& named = *model->capabilities().names;
    const Index k = statistic.nrow(), p = model->n_features(), n = phi.nrow();
    const Vec t = rows_of(statistic), x = rows_of(phi);
    Vec evidence, joint, weights(t.size()), again(t.size()),
        gains(static_cast<std::size_t>(k * named.n_names())), predictive(static_cast<std::size_t>(n * k));
    for (Index j = 0; j < k; ++j) {
      const ObsModel& own = under_name(*model, names[j]);
      evidence.push_back(own.log_evidence(&t[j * p]));
      own.weights(&t[j * p], &weights[j * p]);
      joint.push_back(own.evidence_and_weights(&t[j * p], &again[j * p]));
      named.gains(&t[j * p], &gains[j * named.n_names()]);
      own.log_predictive(&t[j * p], x.data(), n, p, &predictive[j * n]);
    }
    using Rcpp::_;
    return Rcpp::List::create(
        _["evidence"] = evidence, _["joint"] = joint, _["weights"] = matrix_of(weights, k),
        _["joint_weights"] = matrix_of(again, k), _["gains"] = matrix_of(gains, k),
        _["predictive"] = Rcpp::NumericMatrix(static_cast<int>(n), static_cast<int>(k), predictive.begin()),
        _["prob"] =
            arrays_to_r(mean_parameters_of(*model, t.data(), k, Rcpp::as<std::vector<int>>(names)))["prob"]);
  });
}

// Draws of the weights of one cluster with a statistic and a name from its posterior: draws × p.
Rcpp::NumericMatrix engine_named_draws(Rcpp::List obs, Rcpp::NumericVector statistic, int name, int times,
                                       double seed) {
  return entry([&] {
    const auto model = make_obs_model(ListFields(obs));
    const Index p = model->n_features();
    require(statistic.size() == p, "statistic has not one number for each feature");
    Stream stream(static_cast<std::uint64_t>(seed), Purpose::test);
    Vec out(static_cast<std::size_t>(times * p));
    for (int i = 0; i < times; ++i) under_name(*model, name).draw(statistic.begin(), stream, &out[i * p]);
    return matrix_of(out, times);
  });
}

// Learns a prior `times` times from clusters with names: Σ Λ + log hyperprior before and after each time.
Vec engine_learned_with_names(Rcpp::List obs, Rcpp::NumericMatrix statistic, Rcpp::IntegerVector names,
                              int times, bool search) {
  return entry([&] {
    std::shared_ptr<const ObsModel> model = make_obs_model(ListFields(obs));
    const auto of = Rcpp::as<std::vector<int>>(names);
    const Index k = statistic.nrow(), p = model->n_features();
    const Vec t = rows_of(statistic);
    Vec out;
    for (int i = 0; i <= times; ++i) {
      if (i > 0)
        model =
            learned_prior(*model, t.data(), k, of, search ? PriorSteps::search : PriorSteps::ascent, nullptr);
      double sum = prior_of(*model).log_hyperprior();
      for (Index j = 0; j < k; ++j) sum += under_name(*model, of[j]).log_evidence(&t[j * p]);
      out.push_back(sum);
    }
    return out;
  });
}

// best_assignment(): the column, from 1, assigned to each row so that the sum of values is largest.
std::vector<int> engine_best_assignment(Rcpp::NumericMatrix value) {
  return entry([&] {
    std::vector<int> out;
    for (Index j : best_assignment(rows_of(value), value.nrow(), value.ncol()))
      out.push_back(static_cast<int>(j) + 1);
    return out;
  });
}

const testing::Entry entries[] = {
    {"engine_named", {"obs", "statistic", "names", "phi"}, engine_named},
    {"engine_named_draws", {"obs", "statistic", "name", "times", "seed"}, engine_named_draws},
    {"engine_learned_with_names",
     {"obs", "statistic", "names", "times", "search"},
     engine_learned_with_names},
    {"engine_best_assignment", {"value"}, engine_best_assignment},
};

}  // namespace
