#include "observations/obs_models.h"
#include "observations/obs_wishart.h"

namespace bnpvi {

namespace {

// The Wishart model without regressors.
class GaussianZeroMean final : public WishartModel {
 public:
  explicit GaussianZeroMean(const ZeroMeanPrior& prior)
      : WishartModel(engine_prior(prior), Columns(Vec(prior.unit.size(), 0.0), prior.unit), false) {}

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
  static WishartParameters engine_prior(const ZeroMeanPrior& prior) {
    const Index d = static_cast<Index>(prior.unit.size());
    WishartParameters out{0, d, prior.df, {}, {}, prior.scale};
    for (Index i = 0; i < d; ++i)
      for (Index j = 0; j < d; ++j)
        out.scale[i * d + j] = out.scale[i * d + j] / prior.unit[i] / prior.unit[j];
    return out;
  }
};

}  // namespace

std::unique_ptr<ObsModel> make_gaussian_zero_mean(const ZeroMeanPrior& prior) {
  return std::make_unique<GaussianZeroMean>(prior);
}

}  // namespace bnpvi
