#include <algorithm>
#include <cmath>
#include <utility>

#include "foundation/special.h"
#include "foundation/variates.h"
#include "observations/column_gaps.h"
#include "observations/gather.h"
#include "observations/hierarchical_dirichlet.h"
#include "observations/linear_predictive.h"
#include "observations/obs_beta.h"
#include "observations/obs_models.h"

namespace bnpvi {

namespace {

HierarchicalDirichlet hierarchy_of(Index columns) {
  return HierarchicalDirichlet(std::vector<Index>(static_cast<std::size_t>(columns), 2), {-3, 7});
}

// Every other number of x, which holds (one, zero) for each column.
Vec every_other(const Vec& x, std::size_t from) {
  Vec out;
  for (std::size_t i = from; i < x.size(); i += 2) out.push_back(x[i]);
  return out;
}
Vec of_ones(const Vec& x) { return every_other(x, 0); }
Vec of_zeros(const Vec& x) { return every_other(x, 1); }

// φ = (1, x, [δ]), x in {0, 1}^D, so that a column with S_j ones has N_j − S_j zeros. a and b of all columns
// are given, or come from a hierarchical prior of columns with two levels, a one and a zero.
class Bernoulli final : public LinearPredictive<BetaModel>, public LearnedPrior, public Gaps {
 public:
  Bernoulli(const Vec& a, const Vec& b, bool gaps)
      : LinearPredictive(a, b), gaps_(gaps, columns(), 1 + columns()) {}
  Bernoulli(SharePosterior q, const HierarchicalDirichlet& hierarchy, bool gaps)
      : LinearPredictive(of_ones(hierarchy.mean_weights(q)), of_zeros(hierarchy.mean_weights(q)),
                         of_ones(hierarchy.weights(q)), of_zeros(hierarchy.weights(q))),
        gaps_(gaps, columns(), 1 + columns()),
        posterior_(std::move(q)),
        learned_(true),
        log_density_(hierarchy.log_density(posterior_)) {}

  Capabilities capabilities() const override {
    Capabilities out = LinearPredictive::capabilities();
    out.linear = !gaps_;
    if (gaps_) out.gaps = this;
    if (learned_) out.prior = this;
    return out;
  }

  std::shared_ptr<const ObsModel> learned(const double* t, Index k, PriorSteps steps,
                                          Pool* pool) const override {
    Vec counts;  // (ones, zeros) of each column, cluster by cluster
    for (Index i = 0; i < k; ++i)
      for (Index j = 0; j < columns(); ++j) {
        counts.push_back(count_ones(t + i * n_features(), j));
        counts.push_back(count_zeros(t + i * n_features(), j));
      }
    const HierarchicalDirichlet::Counts of{counts.data(), k, 2 * columns(), pool, {}};
    const HierarchicalDirichlet hierarchy = hierarchy_of(columns());
    return std::make_shared<Bernoulli>(hierarchy.improved(posterior_, steps, of), hierarchy,
                                       static_cast<bool>(gaps_));
  }
  double log_hyperprior() const override { return log_density_; }
  NamedArrays learned_fields() const override {
    const Vec mean = hierarchy_of(columns()).mean_weights(posterior_);
    return {{"a", of_ones(mean), {}},
            {"b", of_zeros(mean), {}},
            {"prior_strength", {posterior_.common}, {}},
            {"hyper_share", posterior_.omega, {}}};
  }

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
      const double zero = digamma(bound_zeros(t, j));
      w[gaps_.at(j)] += zero - digamma(a(j) + b(j) + t[gaps_.at(j)]);
      w[1 + j] = digamma(bound_ones(t, j)) - zero;
    }
  }

  // E[p] under the posterior, times the fraction of rows that have the cell.
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
  // The log probabilities at E[p].
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
  ColumnGaps gaps_;
  SharePosterior posterior_;  // used if the prior is learned
  bool learned_ = false;
  double log_density_ = 0;
};

}  // namespace

std::unique_ptr<ObsModel> make_bernoulli(const Fields& f) {
  const Vec a = of_columns(f, "a");
  const Index d = static_cast<Index>(a.size());
  const bool gaps = f.optional_flag("gaps");
  if (!f.has("hyper_share")) return std::make_unique<Bernoulli>(a, f.numbers("b", d), gaps);
  return std::make_unique<Bernoulli>(
      checked(SharePosterior{0, f.number("prior_strength"), f.numbers("hyper_share", 2 * d)}),
      hierarchy_of(d), gaps);
}

}  // namespace bnpvi
