// Computations for rows with logistic likelihoods: bounds of their likelihoods under some clusters, and then
// sums over the rows.
#pragma once
#include <vector>

#include "kernels/tangent_kernels.h"
#include "observations/tangent_rows.h"

namespace bnpvi {

/// Layout of the numbers of a cluster that computations for rows need (b: its coefficients):
///   w_0;
///   for each size: its probability, E b, and (2 − δ_ij) E b_i b_j, the packed triangle of E bb' with
///     off-diagonal entries doubled;
///   1 if the curvature is to be summed, else 0 (one value for all clusters of a visit).
struct TangentWeights {
  explicit TangentWeights(const TangentLayout& layout)
      : mean(1),
        second(1 + layout.regressors()),
        width(second + layout.squares()),
        curved(of(layout.sizes())),
        all(curved + 1) {}

  Index of(Index g) const { return 1 + g * width; }

  Index mean, second, width, curved, all;
};

/// Computes the tangents (quadratic bounds of the log likelihood) of a block of rows under some clusters, and
/// then sums over these rows. Tangents are kept for the sums unless they take too much memory.
class TangentVisit {
 public:
  /// rows_of_unit: the number of rows of each individual; 1 if units are single rows.
  TangentVisit(const TangentRows& rows, Index rows_of_unit);
  TangentVisit(const TangentVisit&) = delete;
  TangentVisit& operator=(const TangentVisit&) = delete;
  ~TangentVisit();

  /// Discards what is kept about the rows. To be called when the features at the address phi have changed.
  void forget_rows() { phi_ = nullptr; }

  /// Writes to `out` (n × k) lower bounds of the log likelihoods of n units (individuals or rows) in k
  /// clusters. phi: the units' reduced features (TangentRows). reduced: the clusters' numbers, k ×
  /// TangentWeights::all.
  void log_likelihoods(Index n, const double* phi, Index k, const double* reduced, double* out);
  /// Adds Σ_i r_ij E φ(x_i), the expected features of n units i with responsibilities r (n × k), to the
  /// statistic t[j] of each of k clusters j.
  void add(Index n, const double* phi, Index k, const double* r, const double* reduced, double* const* t);

 private:
  static constexpr Index step = 128;  // rows at a time: a guess

  // The tangents (quadratic bounds) of up to `step` rows for one size: the constants of each row
  // (LogisticTerm), and for each row in each cluster (k × step) the bound, its coefficient ω and, if it is to
  // be summed, the curvature.
  struct Piece {
    Buffer m, kappa, constant, offset;
    Buffer bound, omega, curve;
  };

  // The memory of a visit. Each thread keeps one for its next TangentVisit.
  struct Room {
    // For each group of `step` rows: reduced features (TangentRows) by columns, and xx' (packed) unless
    // few().
    std::vector<Buffer> columns, squares;
    std::vector<Piece> piece;
    Buffer linear, square, turned, r, pull, mass, sum;  // scratch
  };
  static std::unique_ptr<Room>& spare();

  void visit(Index n, const double* phi, Index k, const double* reduced);
  bool knows(Index n, const double* phi, Index k, const double* reduced);
  Index rows_from(Index from) const;
  const double* row(Index i) const { return phi_ + i * rows_.width; }
  Index place(Index from) const;
  // Are there so few regressors that sums over rows need no matrix products? Sums of the curvature always use
  // them.
  bool few() const { return !curved_ && rows_.layout.regressors() <= TangentKernels::few; }
  const double* column(Index from, Index of) const { return room_->columns[place(from)].data() + of * step; }
  Piece& piece(Index from, Index g) { return room_->piece[place(from) * rows_.layout.sizes() + g]; }
  void find_columns(Index from);
  void find_bounds(Index from, Index g);
  void take_masses(const double* r, Index from, Index k);
  void add_piece(Index from, Index g, Index k, double* const* t);
  void find_sums(Index from, Index g, Index k);

  const TangentRows& rows_;
  TangentWeights weights_;
  Index rows_of_unit_;
  const double* phi_ = nullptr;  // reduced features of the rows whose tangents are kept; null: none
  Index n_ = 0, k_ = 0;          // numbers of rows and of clusters
  bool keeps_ = false;
  bool curved_ = false;  // is the curvature summed?
  Vec reduced_;
  std::vector<Index> column_;  // for each cluster of the call, its number among the visited clusters
  std::unique_ptr<Room> room_;
};

}  // namespace bnpvi
