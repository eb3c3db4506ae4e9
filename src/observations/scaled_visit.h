// Rows with scales, visited under some clusters.
#pragma once
#include <memory>
#include <vector>

#include "foundation/types.h"
#include "observations/tail_weight.h"

namespace bnpvi {

/// Over rows in a cluster, u standing for its expectation a / b: Σ r, and Σ r of log u, log u − u + 1 and (u
/// − 1)².
struct SumsOfScales {
  double mass = 0, log_u = 0, away = 0, square = 0;

  void add(double of_mass, double of_log, double of_away, double of_square) {
    mass += of_mass;
    log_u += of_log;
    away += of_away;
    square += of_square;
  }
};

/// log ∫ exp⟨φ(x), w⟩ over the scales of n rows in k clusters (n × k), from their features and weights as
/// ScaledPattern has them: phi (n × p), reduced (k × p + 1).
void log_weights_of_scales(Index n, Index p, const double* phi, Index k, const double* reduced, double* out);

/// The same of the rows of a block in the clusters that they are visited under, and then sums over them, by
/// loops that keep what they have in common, b / a of q(u) = Gamma(a, b) and its logarithm.
class ScaleVisit {
 public:
  void set_clusters(Index k, Index p, Vec reduced);
  /// Features at the places of those that are known are others from now on.
  void forget_rows() { phi_ = nullptr; }
  const ScaleDensity& density(Index j) const { return density_[j]; }

  void log_weights(Index n, const double* phi, double* out);
  /// sums_j += Σ_i r_ij ..., and moments_j += Σ_i (r_ij a_j / b_ij) of the features after the first (k × p −
  /// 1).
  void add(Index n, const double* phi, const double* r, SumsOfScales* sums, double* moments);

 private:
  void multiply(Index n, const double* phi);
  bool knows(Index n, const double* phi) const { return phi_ == phi && n_ == n; }
  void add_all(Index n, const double* phi, const double* r, SumsOfScales* sums, double* moments);
  void add_entries(Index n, const double* phi, const double* r, SumsOfScales* sums, double* moments) const;

  Index k_ = 0, p_ = 0;
  Vec reduced_, packed_;  // packed_: as kernels have the weights of the features after the first
  Vec constant_, shape_;  // the constants and a, of some rows of clusters one after the other
  std::vector<ScaleDensity> density_;
  const double* phi_ = nullptr;  // of the rows that are known; null: none
  Index n_ = 0;
  std::unique_ptr<double[]> ratio_, log_ratio_;  // n × k, never filled before they are written
  Index room_ = 0;                               // numbers that they hold
};

}  // namespace bnpvi
