// Rows with unobserved scales (scaled_rows.h): their log weights in some clusters, and then sums over the
// rows.
#pragma once
#include <memory>
#include <vector>

#include "foundation/types.h"
#include "observations/tail_weight.h"

namespace bnpvi {

/// Sums over the rows of a cluster. The scale of a row has q(u) = Gamma(a, b), and u here is its mean a / b;
/// r are the responsibilities. mass: Σ r; log_u: Σ r log u; away: Σ r (log u − u + 1); square: Σ r (u − 1)².
struct SumsOfScales {
  double mass = 0, log_u = 0, away = 0, square = 0;

  void add(double of_mass, double of_log, double of_away, double of_square) {
    mass += of_mass;
    log_u += of_log;
    away += of_away;
    square += of_square;
  }
};

/// Writes log ∫ exp⟨φ(x), w⟩, integrated over the scales, for n rows in k clusters to `out` (n × k). phi:
/// features of the rows (n × p). reduced: weights of the clusters (k × (p + 1)). Both are as in
/// ScaledPattern.
void log_weights_of_scales(Index n, Index p, const double* phi, Index k, const double* reduced, double* out);

/// Computes log_weights_of_scales() for a block of rows, and afterwards sums over these rows. Both need b /
/// a, the inverse of the mean scale under q(u) = Gamma(a, b), and its logarithm. These are kept between the
/// two steps.
class ScaleVisit {
 public:
  void set_clusters(Index k, Index p, Vec reduced);
  /// Discards what is kept about the rows. Must be called if the features at the address phi have changed.
  void forget_rows() { phi_ = nullptr; }
  const ScaleDensity& density(Index j) const { return density_[j]; }

  void log_weights(Index n, const double* phi, double* out);
  /// Adds sums over n rows with responsibilities r (n × k) for each of k clusters j. sums[j]: receives the
  /// sums of scales. moments (k × (p − 1)): receives Σ_i r_ij (a_j / b_ij) times the features of row i after
  /// the first.
  void add(Index n, const double* phi, const double* r, SumsOfScales* sums, double* moments);

 private:
  void multiply(Index n, const double* phi);
  bool knows(Index n, const double* phi) const { return phi_ == phi && n_ == n; }
  void add_all(Index n, const double* phi, const double* r, SumsOfScales* sums, double* moments);
  void add_entries(Index n, const double* phi, const double* r, SumsOfScales* sums, double* moments) const;

  Index k_ = 0, p_ = 0;
  Vec reduced_, packed_;  // packed_: weights of the features after the first, packed for the kernels
  Vec constant_, shape_;  // constants and a of all clusters, repeated for several rows
  std::vector<ScaleDensity> density_;
  const double* phi_ = nullptr;  // features of the rows whose ratios are kept; null: none
  Index n_ = 0;
  std::unique_ptr<double[]> ratio_, log_ratio_;  // n × k: b / a and its logarithm; not initialised
  Index room_ = 0;                               // number of ratios for which there is memory
};

}  // namespace bnpvi
