#include "observations/gaussian_columns.h"
#include "observations/gaussian_prior.h"
#include "observations/obs_models.h"
#include "observations/scaled_rows.h"

namespace bnpvi {

namespace {

std::shared_ptr<const WishartModel> gaussian_columns(const GaussianPrior& prior, ScaleShape shape) {
  return std::make_shared<GaussianColumns>(OwnGaussianPrior(prior, shape).in_engine_units(),
                                           Columns(prior.centre, prior.unit, prior.rounding), false);
}

}  // namespace

std::unique_ptr<ObsModel> make_student_full(const Fields& f) {
  return make_scaled_rows({gaussian_columns(gaussian_prior(f, ScaleShape::full, true), ScaleShape::full)}, f,
                          false);
}

std::unique_ptr<ObsModel> make_student_diagonal(const Fields& f) {
  const GaussianPrior all = gaussian_prior(f, ScaleShape::diagonal, true);
  std::vector<std::shared_ptr<const WishartModel>> blocks;
  for (std::size_t j = 0; j < all.unit.size(); ++j) {
    GaussianPrior own;
    own.mean = {all.mean[j]};
    own.mean_strength = all.mean_strength;
    own.df = all.df;
    own.scale = {all.scale[j]};
    own.centre = {all.centre[j]};
    own.unit = {all.unit[j]};
    if (!all.rounding.empty()) own.rounding = {all.rounding[j]};
    blocks.push_back(gaussian_columns(own, ScaleShape::full));
  }
  return make_scaled_rows(std::move(blocks), f, true);
}

}  // namespace bnpvi
