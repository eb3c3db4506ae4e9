// Rows with logistic likelihoods, visited under some clusters.
#pragma once
#include <vector>

#include "observations/tangent_rows.h"

namespace bnpvi {

/// Numbers of a cluster as rows see them: w_0, and of each size how probable it is, E b and (2 − δ) E bb'
/// (packed).
struct TangentWeights {
  explicit TangentWeights(const TangentLayout& layout)
      : mean(1), second(1 + layout.regressors()), width(second + layout.squares()), all(of(layout.sizes())) {}

  Index of(Index g) const { return 1 + g * width; }

  Index mean, second, width, all;
};

/// The tangents of the rows of a block in the clusters that they are visited under, and sums over them. What
/// was found for the first is kept for the second, if it is not too much.
class TangentVisit {
 public:
  /// Units of which each has so many rows.
  TangentVisit(const TangentRows& rows, Index rows_of_unit);

  /// Features at the places of those that are known are others from now on.
  void forget_rows() { phi_ = nullptr; }

  /// Of n units the bounds of their likelihoods in k clusters (n × k), from their reduced features and the
  /// weights of the clusters (k × TangentWeights::all).
  void log_likelihoods(Index n, const double* phi, Index k, const double* reduced, double* out);
  /// t_j += Σ_i r_ij E φ(x_i), r (n × k).
  void add(Index n, const double* phi, Index k, const double* r, const double* reduced, double* const* t);

 private:
  // Of some rows and one size, what they are, and of each row in each cluster (k × step) the bound, ω and the
  // curvature.
  struct Piece {
    Buffer m, kappa, constant, offset;
    Buffer bound, omega, curve;
  };

  void visit(Index n, const double* phi, Index k, const double* reduced);
  bool knows(Index n, const double* phi, Index k, const double* reduced);
  Index rows_from(Index from) const;
  const double* row(Index i) const { return phi_ + i * rows_.width; }
  Index place(Index from) const;
  Piece& piece(Index from, Index g) { return piece_[place(from) * rows_.layout.sizes() + g]; }
  void find_squares(Index from);
  void find_bounds(Index from, Index g);
  static void add_counts(Index n, Index k, const double* r, double* const* t);
  void take_masses(const double* r, Index from, Index k);
  void add_piece(Index from, Index g, Index k, double* const* t);

  const TangentRows& rows_;
  TangentWeights weights_;
  Index rows_of_unit_;
  const double* phi_ = nullptr;  // of the rows that are known; null: none
  Index n_ = 0, k_ = 0;          // rows, clusters
  bool keeps_ = false;
  Vec reduced_;
  std::vector<Buffer> squares_;  // xx' (packed) of some rows
  std::vector<Piece> piece_;
  std::vector<Index> column_;  // where a cluster that is asked for is among those visited
  Buffer linear_, turned_, r_, pull_, mass_, sum_;  // scratch
};

}  // namespace bnpvi
