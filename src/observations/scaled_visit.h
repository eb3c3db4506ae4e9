// Computations for rows with unobserved scales (scaled_rows.h): their log weights under some clusters, and
// then sums over the rows.
#pragma once
#include <memory>
#include <vector>

#include "foundation/types.h"
#include "observations/tail_weight.h"

namespace bnpvi {

/// Sums over the rows of a cluster whose scales have q(u) = Gamma(a, b); r are the rows' responsibilities,
/// and u stands for its expectation a / b. The members are Σ r (mass), Σ r log u, Σ r (log u − u + 1) (away)
/// and Σ r (u − 1)² (square).
struct SumsOfScales {
  double mass = 0, log_u = 0, away = 0, square = 0;

  void add(double of_mass, double of_log, double of_away, double of_square) {
    mass += of_mass;
    log_u += of_log;
    away += of_away;
    square += of_square;
  }
};

/// Writes to `out` (n × k) log ∫ exp⟨φ(x), w⟩, integrated over the scales, of n rows in k clusters. phi (n ×
/// p) and reduced (k × p + 1): features of the rows and weights of the clusters, as ScaledPattern defines
/// them.
void log_weights_of_scales(Index n, Index p, const double* phi, Index k, const double* reduced, double* out);

/// Computes log_weights_of_scales() for a block of rows, and afterwards sums over these rows. Both steps need
/// the inverse expected scale b / a of q(u) = Gamma(a, b) and its logarithm, which are kept between them.
class ScaleVisit {
 public:
  void set_clusters(Index k, Index p, Vec reduced);
  /// Discards what is kept about the rows; to be called when phi, at the same address, has received other
  /// features.
  void forget_rows() { phi_ = nullptr; }
  const ScaleDensity& density(Index j) const { return density_[j]; }

  void log_weights(Index n, const double* phi, double* out);
  /// Adds sums over n rows with responsibilities r (n × k) for each of k clusters j: to sums[j] the sums of
  /// scales, and to `moments` (k × p − 1) the sum over rows i of r_ij (a_j / b_ij) times the row's features
  /// after the first.
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
