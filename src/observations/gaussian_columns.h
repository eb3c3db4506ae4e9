// Gaussian models with full covariance, as Wishart models.
#pragma once
#include <vector>

#include "observations/gaussian_prior.h"
#include "observations/obs_wishart.h"

namespace bnpvi {

/// The Wishart model of a Gaussian cluster. Its only regressor is the constant 1, so the coefficients M are
/// the mean, and their precision V is mean_strength. one_first: whether v_0 = 1 (WishartModel). It is false
/// if each row's 1 is multiplied by the scale of the row.
class GaussianColumns : public WishartModel {
 public:
  GaussianColumns(const NormalWishart& prior, const Columns& columns, bool one_first)
      : WishartModel(
            {1, static_cast<Index>(prior.mean.size()), prior.df, prior.mean, {prior.strength}, prior.scale},
            columns, one_first) {}

  NamedArrays posterior(const double* t, Index k) const override;
  NamedArrays mean_parameters(const double* t, Index k) const override;

 protected:
  Index column_of(Index i) const override { return i - 1; }
  void gather_rows(const Dataset& data, const Index* rows, Index n, double* v) const override;

 private:
  NamedArray mean_array(const std::vector<WishartParameters>& q) const;
};

}  // namespace bnpvi
