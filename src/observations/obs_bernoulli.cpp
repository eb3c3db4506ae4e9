#include <algorithm>
#include <cmath>

#include "foundation/special.h"
#include "foundation/variates.h"
#include "observations/beta_prior.h"
#include "observations/column_gaps.h"
#include "observations/gather.h"
#include "observations/linear_predictive.h"
#include "observations/obs_beta.h"
#include "observations/obs_models.h"

namespace bnpvi {

namespace {

// φ = (1, x, [δ]), x in {0, 1}^D, so that N_j − S_j zeros belong to S_j ones.
class Bernoulli final : public LinearPredictive<BetaModel>, public LearnedPrior, public Gaps {
 public:
  explicit Bernoulli(const BetaPrior& prior)
      : LinearPredictive(prior.a, prior.b), prior_(prior), gaps_(prior.gaps, columns(), 1 + columns()) {}

  Capabilities capabilities() const override {
    Capabilities out = LinearPredictive::capabilities();
    out.linear = !gaps_;
    if (gaps_) out.gaps = this;
    if (prior_.learn) out.prior = this;
    return out;
  }

  std::shared_ptr<const ObsModel> learned(const double* t, Index k, PriorSteps, Pool* pool) const override {
    if (occupied_clusters(t, k, n_features()) < 2) return nullptr;
    return std::make_shared<Bernoulli>(learn_beta_prior(prior_, t, k, pool));
  }
  double log_hyperprior() const override { return bnpvi::log_hyperprior(prior_); }
  NamedArrays learned_fields() const override { return {{"a", prior_.a, {}}, {"b", prior_.b, {}}}; }

  Index n_features() const override { return gaps_.n_features(); }
  Index n_columns() const override { return columns(); }

  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    gather_linear(data, rows, n, phi, ld);
    gaps_.mark(n, phi, ld, 1, 1, [](const double*) { return 1; });
  }

  void from_complete(const ObsModel&, const double* complete_t, double* t) const override {
    gaps_.from_complete(complete_t, t);
  }

  void weights(const double* t, double* w) const override {
    std::fill_n(w, n_features(), 0.0);
    for (Index j = 0; j < columns(); ++j) {
      const double zero = digamma(zeros(t, j));
      w[gaps_.at(j)] += zero - digamma(a(j) + b(j) + t[gaps_.at(j)]);
      w[1 + j] = digamma(ones(t, j)) - zero;
    }
  }

  // E[p] under the posterior, times the share of rows that have the cell.
  void point_estimate(const double* t, double* mean, double* w) const override {
    mean[0] = 1;
    for (Index j = 0; j < columns(); ++j) {
      const double one = ones(t, j), zero = zeros(t, j), share = gaps_.share(t, j);
      mean[gaps_.at(j)] = share;
      mean[1 + j] = share * (one / (one + zero));
    }
    predictive_weights(t, w);
  }

  void draw(const double* t, Stream& stream, double* w) const override {
    std::fill_n(w, n_features(), 0.0);
    for (Index j = 0; j < columns(); ++j) {
      const LogBeta drawn = draw_log_beta(ones(t, j), zeros(t, j), stream);
      w[gaps_.at(j)] += drawn.log_rest;
      w[1 + j] = drawn.log_x - drawn.log_rest;
    }
  }

 protected:
  // Those of E[p].
  void predictive_weights(const double* t, double* w) const override {
    std::fill_n(w, n_features(), 0.0);
    for (Index j = 0; j < columns(); ++j) {
      const double one = ones(t, j), zero = zeros(t, j);
      w[gaps_.at(j)] += std::log(zero / (one + zero));
      w[1 + j] = std::log(one / zero);
    }
  }

  double count_ones(const double* t, Index j) const override { return std::max(t[1 + j], 0.0); }
  double count_zeros(const double* t, Index j) const override {
    return std::max(t[gaps_.at(j)] - t[1 + j], 0.0);
  }

 private:
  BetaPrior prior_;
  ColumnGaps gaps_;
};

}  // namespace

std::unique_ptr<ObsModel> make_bernoulli(const Fields& f) {
  const Vec a = of_columns(f, "a");
  return std::make_unique<Bernoulli>(
      BetaPrior{a, f.numbers("b", static_cast<Index>(a.size())), f.has("learn"), f.optional_flag("gaps")});
}

}  // namespace bnpvi
