// How rows with scales (scaled_rows.h) are visited: their log weights under some clusters, and then sums over
// them.
#pragma once
#include <memory>
#include <vector>

#include "foundation/types.h"
#include "observations/tail_weight.h"

namespace bnpvi {

/// Sums over the rows of a cluster that have scales u ~ Gamma(a, b) under q. Here u is short for its
/// expectation a / b: `mass` is Σ r, with r the responsibilities; the others are Σ r log u, Σ r (log u − u +
/// 1) and Σ r (u − 1)².
struct SumsOfScales {
  double mass = 0, log_u = 0, away = 0, square = 0;

  void add(double of_mass, double of_log, double of_away, double of_square) {
    mass += of_mass;
    log_u += of_log;
    away += of_away;
    square += of_square;
  }
};

/// log ∫ exp⟨φ(x), w⟩ over the scales of n rows in k clusters (n × k). phi (n × p) and reduced (k × p + 1):
/// features and weights as ScaledPattern defines them.
void log_weights_of_scales(Index n, Index p, const double* phi, Index k, const double* reduced, double* out);

/// Computes log_weights_of_scales() for a block of rows, and afterwards sums over these rows. Both steps need
/// b / a of q(u) = Gamma(a, b) and its logarithm, which are kept between them.
class ScaleVisit {
 public:
  void set_clusters(Index k, Index p, Vec reduced);
  /// Call when phi, at the same address, has received other features.
  void forget_rows() { phi_ = nullptr; }
  const ScaleDensity& density(Index j) const { return density_[j]; }

  void log_weights(Index n, const double* phi, double* out);
  /// Given responsibilities r (n × k), adds the sums over rows to sums_j for each cluster j, and Σ_i (r_ij
  /// a_j / b_ij) times the features after the first to moments_j (k × p − 1).
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
