#include "observations/gaussian_prior.h"
#include "observations/obs_models.h"
#include "observations/scaled_rows.h"

namespace bnpvi {

namespace {

// Some columns of a Gaussian model, with the constant 1 as their only regressor, whose second moment is none
// of φ_0: the 1 of a row counts by its scale.
class GaussianColumns final : public WishartModel {
 public:
  GaussianColumns(const NormalWishart& prior, const Columns& columns)
      : WishartModel(
            {1, static_cast<Index>(prior.mean.size()), prior.df, prior.mean, {prior.strength}, prior.scale},
            columns, false) {}

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
  NamedArray mean_array(const std::vector<WishartParameters>& q) const {
    NamedArray out{"mean", {}, {static_cast<Index>(q.size()), responses()}};
    for (Index j = 0; j < responses(); ++j)
      for (const auto& cluster : q)
        out.value.push_back(columns().centre[j] + columns().unit[j] * cluster.coef[j]);
    return out;
  }
};

std::shared_ptr<const WishartModel> gaussian_columns(const GaussianPrior& prior, ScaleShape shape) {
  return std::make_shared<GaussianColumns>(OwnGaussianPrior(prior, shape).in_engine_units(),
                                           Columns(prior.centre, prior.unit, prior.rounding));
}

}  // namespace

std::unique_ptr<ObsModel> make_student_full(const Fields& f) {
  return make_scaled_rows({gaussian_columns(gaussian_prior(f, ScaleShape::full, true), ScaleShape::full)}, f);
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
  return make_scaled_rows(std::move(blocks), f);
}

}  // namespace bnpvi
