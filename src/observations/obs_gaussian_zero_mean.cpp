#include <utility>

#include "observations/obs_models.h"
#include "observations/obs_wishart.h"

namespace bnpvi {

namespace {

// The Wishart model without regressors.
class GaussianZeroMean final : public WishartModel {
 public:
  explicit GaussianZeroMean(const GaussianPrior& prior)
      : GaussianZeroMean(OwnGaussianPrior(prior, static_cast<Index>(prior.unit.size())),
                         Columns(prior.centre, prior.unit)) {}

  std::shared_ptr<const ObsModel> learned(const double* t, Index k, Pool* pool) const override {
    return prior_.learned(*this, t, k, pool);
  }
  double log_hyperprior() const override { return prior_.log_hyperprior(); }
  NamedArrays learned_fields() const override { return prior_.learned_fields(); }

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
  GaussianZeroMean(OwnGaussianPrior prior, const Columns& columns)
      : WishartModel(parameters(prior.in_engine_units(), columns.size()), columns, false),
        prior_(std::move(prior)) {}

  static WishartParameters parameters(const NormalWishart& prior, Index d) {
    return {0, d, prior.df, {}, {}, prior.scale};
  }

  OwnGaussianPrior prior_;
};

}  // namespace

std::unique_ptr<ObsModel> make_gaussian_zero_mean(const GaussianPrior& prior) {
  return std::make_unique<GaussianZeroMean>(prior);
}

}  // namespace bnpvi
