#include "observations/gaussian_columns.h"
#include "observations/gaussian_prior.h"
#include "observations/obs_models.h"
#include "observations/partly_observed.h"

namespace bnpvi {

namespace {

class GaussianFull final : public WithGaussianPrior<GaussianFull, GaussianColumns> {
 public:
  explicit GaussianFull(const GaussianPrior& prior)
      : GaussianFull(OwnGaussianPrior(prior, ScaleShape::full),
                     Columns(prior.centre, prior.unit, prior.rounding)) {}
  GaussianFull(const GaussianFull& like, const NormalWishart& prior)
      : GaussianFull(OwnGaussianPrior(prior), like.columns()) {}

 private:
  GaussianFull(const OwnGaussianPrior& prior, const Columns& columns)
      : WithGaussianPrior(prior, prior.in_engine_units(), columns, true) {}
};

}  // namespace

std::unique_ptr<ObsModel> make_gaussian_full(const Fields& f) {
  if (f.has("drift")) return make_gaussian_drift(f, true);
  return as_observed(f, std::make_unique<GaussianFull>(gaussian_prior(f, ScaleShape::full, true)));
}

}  // namespace bnpvi
