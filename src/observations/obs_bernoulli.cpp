#include <algorithm>
#include <cmath>

#include "foundation/special.h"
#include "observations/gather.h"
#include "observations/obs_models.h"

namespace bnpvi {

namespace {

// φ = (1, x), x in {0, 1}^D; Beta(a_d, b_d) for each column.
class Bernoulli final : public ObsModel {
 public:
  explicit Bernoulli(const BetaPrior& prior) : d_(static_cast<Index>(prior.a.size())), prior_(prior) {}

  std::shared_ptr<const ObsModel> learned(const double* t, Index k, Pool* pool) const override {
    if (!prior_.learn || occupied_clusters(t, k, n_features()) < 2) return nullptr;
    return std::make_shared<Bernoulli>(learn_beta_prior(prior_, t, k, pool));
  }
  double log_hyperprior() const override { return bnpvi::log_hyperprior(prior_); }
  NamedArrays learned_fields() const override {
    if (!prior_.learn) return {};
    return {{"a", prior_.a, {}}, {"b", prior_.b, {}}};
  }

  Index n_features() const override { return 1 + d_; }
  Index n_columns() const override { return d_; }
  bool linear() const override { return true; }

  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    gather_linear(data, rows, n, phi, ld);
  }

  double log_evidence(const double* t) const override {
    double sum = 0;
    for (Index j = 0; j < d_; ++j) {
      const double one = count_ones(t, j), zero = count_zeros(t, j);
      sum += log_gamma_difference(prior_.a[j] + prior_.b[j], one + zero) -
             log_gamma_difference(prior_.a[j], one) - log_gamma_difference(prior_.b[j], zero);
    }
    return sum;
  }

  void weights(const double* t, double* w) const override {
    w[0] = 0;
    for (Index j = 0; j < d_; ++j) {
      const double zero = digamma(zeros(t, j));
      w[0] += zero - digamma(prior_.a[j] + prior_.b[j] + t[0]);
      w[1 + j] = digamma(ones(t, j)) - zero;
    }
  }

  // E[p] under the posterior.
  void point_estimate(const double* t, double* mean, double* w) const override {
    mean[0] = 1;
    w[0] = 0;
    for (Index j = 0; j < d_; ++j) {
      const double one = ones(t, j), zero = zeros(t, j);
      mean[1 + j] = one / (one + zero);
      w[0] += std::log(zero / (one + zero));
      w[1 + j] = std::log(one / zero);
    }
  }

  // The predictive of zeros and ones is linear in x on the logarithmic scale, with the weights of E[p].
  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override {
    Vec mean(static_cast<std::size_t>(n_features())), w(mean.size());
    point_estimate(t, mean.data(), w.data());
    for (Index i = 0; i < n; ++i) {
      out[i] = 0;
      for (Index j = 0; j < n_features(); ++j) out[i] += phi[i * ld + j] * w[j];
    }
  }

  NamedArrays posterior(const double* t, Index k) const override {
    NamedArray a{"a", {}, {k, d_}}, b{"b", {}, {k, d_}};
    for (Index j = 0; j < d_; ++j)
      for (Index i = 0; i < k; ++i) {
        a.value.push_back(ones(t + i * n_features(), j));
        b.value.push_back(zeros(t + i * n_features(), j));
      }
    return {a, b};
  }

  NamedArrays mean_parameters(const double* t, Index k) const override {
    const NamedArrays q = posterior(t, k);
    NamedArray out = q[0];
    out.name = "prob";
    for (std::size_t i = 0; i < out.value.size(); ++i) out.value[i] /= q[0].value[i] + q[1].value[i];
    return {out};
  }

 private:
  // S ≥ 0 and N − S ≥ 0 in exact arithmetic; rounded sums and differences of summaries may be below.
  static double count_ones(const double* t, Index j) { return std::max(t[1 + j], 0.0); }
  static double count_zeros(const double* t, Index j) { return std::max(t[0] - t[1 + j], 0.0); }
  double ones(const double* t, Index j) const { return prior_.a[j] + count_ones(t, j); }
  double zeros(const double* t, Index j) const { return prior_.b[j] + count_zeros(t, j); }

  Index d_;
  BetaPrior prior_;
};

}  // namespace

std::unique_ptr<ObsModel> make_bernoulli(const BetaPrior& prior) {
  return std::make_unique<Bernoulli>(prior);
}

}  // namespace bnpvi
