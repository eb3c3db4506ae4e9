#include "observations/gaussian_prior.h"
#include "observations/obs_models.h"
#include "observations/obs_wishart.h"
#include "observations/partly_observed.h"

namespace bnpvi {

namespace {

// The Wishart model without regressors.
class GaussianZeroMean final : public WithGaussianPrior<GaussianZeroMean, WishartModel> {
 public:
  explicit GaussianZeroMean(const GaussianPrior& prior)
      : GaussianZeroMean(OwnGaussianPrior(prior, ScaleShape::full),
                         Columns(prior.centre, prior.unit, prior.rounding)) {}
  GaussianZeroMean(const GaussianZeroMean& like, const NormalWishart& prior)
      : GaussianZeroMean(OwnGaussianPrior(prior), like.columns()) {}

  NamedArrays posterior(const double* t, Index k) const override {
    const auto q = posterior_parameters(t, k);
    return {df_array(q), scale_array(q)};
  }

  NamedArrays mean_parameters(const double* t, Index k) const override {
    return {covariance_array(posterior_parameters(t, k))};
  }

 protected:
  Index column_of(Index i) const override { return i; }

  void gather_rows(const Dataset& data, const Index* rows, Index n, double* v) const override {
    gather(data, columns(), rows, n, 0, v, responses());
  }

 private:
  GaussianZeroMean(const OwnGaussianPrior& prior, const Columns& columns)
      : WithGaussianPrior(prior, parameters(prior.in_engine_units(), columns.size()), columns, false) {}

  static WishartParameters parameters(const NormalWishart& prior, Index d) {
    return {0, d, prior.df, {}, {}, prior.scale};
  }
};

}  // namespace

std::unique_ptr<ObsModel> make_gaussian_zero_mean(const Fields& f) {
  return as_observed(f, std::make_unique<GaussianZeroMean>(gaussian_prior(f, ScaleShape::full, false)));
}

}  // namespace bnpvi
