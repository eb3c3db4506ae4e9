// Predictive densities of rows with unobserved scales (scaled_rows.h): the scale is integrated out.
#pragma once
#include <utility>
#include <vector>

#include "observations/obs_wishart.h"
#include "observations/shape_lattice.h"

namespace bnpvi {

/// Predictive density of a row with an unobserved scale u, a factor of its precision: log ∫ p(u) p(y | z, u)
/// du for rows of one cluster. p(u) is averaged over q(ν), the posterior of the degrees of freedom. The
/// integral is computed for each row by the trapezoid rule in log u around the mode. Small and large ν are
/// treated separately, as their densities of log u are wide and narrow.
class ScaledPredictive {
 public:
  /// blocks: for each independent block of responses, the predictive of rows with scale u = 1. tails: q(ν),
  /// the posterior of the degrees of freedom.
  ScaledPredictive(std::vector<WishartModel::StudentRows> blocks, const ShapeLattice& tails);

  /// Log predictive density of a row. phi: φ_0, which is below 1 for a row that is very far out (bring_near
  /// in gather.h), and then the second moments of each block of responses.
  double operator()(const double* phi) const;

 private:
  struct Row {
    double log_near;
    std::vector<std::pair<double, double>> squares;  // a and b of each block (WishartModel::StudentRows)
  };
  // Points of q(ν) that are not far apart: first .. end − 1. nu: their mean; step: that of log u.
  struct Points {
    std::size_t first, end;
    double nu, step;
  };
  double height(const Row& row, const Points& points, double log_u) const;
  double log_integral(const Row& row, double distance, const Points& points) const;

  std::vector<WishartModel::StudentRows> blocks_;
  Vec half_, log_weight_;  // ν/2, and log q(ν) plus the constant of p(u | ν)
  std::vector<Points> points_;
  double responses_ = 0;
};

}  // namespace bnpvi
