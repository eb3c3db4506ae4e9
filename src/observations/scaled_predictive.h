// Densities of rows whose scales are not known.
#pragma once
#include <utility>
#include <vector>

#include "observations/obs_wishart.h"
#include "observations/shape_lattice.h"

namespace bnpvi {

/// log ∫ p(u) p(y | z, u) du of rows in one cluster, p(u) averaged over q(ν): a trapezoid rule in log u
/// around the mode of each row.
class ScaledPredictive {
 public:
  /// blocks: of independent responses, their predictives of rows with u = 1.
  ScaledPredictive(std::vector<WishartModel::StudentRows> blocks, const ShapeLattice& tails);

  /// phi: φ_0 of the row's second moments, which are below 1 where it was brought near, then these of each
  /// block.
  double operator()(const double* phi) const;

 private:
  struct Row {
    double log_near;
    std::vector<std::pair<double, double>> squares;  // a and b of each block
  };
  double height(const Row& row, double log_u) const;

  std::vector<WishartModel::StudentRows> blocks_;
  Vec half_, log_weight_;  // ν/2, and log q(ν) with what is constant in p(u | ν)
  double nu_ = 0, widest_ = 0, responses_ = 0;
};

}  // namespace bnpvi
