#include "observations/gaussian_prior.h"
#include "observations/obs_models.h"
#include "observations/obs_wishart.h"
#include "observations/partly_observed.h"

namespace bnpvi {

namespace {

// The Wishart model with the constant 1 as its only regressor: M = mean, V = mean_strength.
class GaussianFull final : public WithGaussianPrior<GaussianFull, WishartModel> {
 public:
  explicit GaussianFull(const GaussianPrior& prior)
      : GaussianFull(OwnGaussianPrior(prior, ScaleShape::full),
                     Columns(prior.centre, prior.unit, prior.rounding)) {}
  GaussianFull(const GaussianFull& like, const NormalWishart& prior)
      : GaussianFull(OwnGaussianPrior(prior), like.columns()) {}

  NamedArrays posterior(const double* t, Index k) const override {
    const auto q = posterior_parameters(t, k);
    NamedArray strength{"mean_strength", {}, {}};
    for (const auto& cluster : q) strength.value.push_back(cluster.precision[0]);
    return {mean_array(q), strength, df_array(q), scale_array(q)};
  }

  NamedArrays mean_parameters(const double* t, Index k) const override {
    const auto q = posterior_parameters(t, k);
    return {mean_array(q), covariance_array(q)};
  }

 protected:
  Index column_of(Index i) const override { return i - 1; }

  void gather_rows(const Dataset& data, const Index* rows, Index n, double* v) const override {
    const Index m = 1 + responses();
    for (Index i = 0; i < n; ++i) v[i * m] = 1;
    gather(data, columns(), rows, n, 0, v + 1, m);
  }

 private:
  GaussianFull(const OwnGaussianPrior& prior, const Columns& columns)
      : WithGaussianPrior(prior, parameters(prior.in_engine_units()), columns, true) {}

  static WishartParameters parameters(const NormalWishart& prior) {
    return {1, static_cast<Index>(prior.mean.size()), prior.df, prior.mean, {prior.strength}, prior.scale};
  }

  NamedArray mean_array(const std::vector<WishartParameters>& q) const {
    NamedArray out{"mean", {}, {static_cast<Index>(q.size()), responses()}};
    for (Index j = 0; j < responses(); ++j)
      for (const auto& cluster : q)
        out.value.push_back(columns().centre[j] + columns().unit[j] * cluster.coef[j]);
    return out;
  }
};

}  // namespace

std::unique_ptr<ObsModel> make_gaussian_full(const Fields& f) {
  if (f.has("drift")) return make_gaussian_drift(f, true);
  return as_observed(f, std::make_unique<GaussianFull>(gaussian_prior(f, ScaleShape::full, true)));
}

}  // namespace bnpvi
