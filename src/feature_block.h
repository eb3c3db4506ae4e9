// A block of rows in feature space, and its two products with clusters.
#pragma once
#include "obs_model.h"
#include "responsibilities.h"

namespace bnpvi {

/// Weights of K clusters, ready for products with features: w is K × p; for linear models also its
/// transpose, p × K.
struct Weights {
  Index k = 0;
  Index p = 0;
  Vec w;
  Vec transposed;

  void transpose();  // fills `transposed` from w
};

/// ∇Λ(T_k) for all clusters of t (K × p).
Weights make_weights(const ObsModel& obs, const double* t, Index k);

/// Accumulates T += Rᵀ Φ over blocks. For sparse rows the sum is kept transposed until finish().
class FeatureSum {
 public:
  FeatureSum(const ObsModel& obs, const Dataset& data, Index k);
  void finish(double* t);   // adds the sum to t (K × p)
 private:
  friend class FeatureBlock;
  Index k_, p_;
  bool transposed_;
  Vec sum_;
};

/// Scratch for one thread: loads rows, multiplies them with weights, adds them up by responsibility.
/// Memory: block_rows() × p.
class FeatureBlock {
 public:
  FeatureBlock(const ObsModel& obs, const Dataset& data);

  /// Rows to process at a time: a function of p only, so that results do not depend on anything else.
  Index block_rows() const { return block_rows_; }

  void load(const Index* rows, Index n);
  void times(const Weights& weights, double* c) const;                    // C (n × K) = Φ Wᵀ
  void add_weighted(const Responsibilities& r, FeatureSum& sum) const;    // sum += Rᵀ Φ
  /// One cluster: t (p) += Σ_i r_i φ(row_i).
  void add_weighted(const double* r, double* t) const;

  Index n() const { return n_; }
  /// Φ of the loaded rows, n × p with rows ld() apart, dense for every model.
  const double* features();
  Index ld() const { return ld_; }

 private:
  const ObsModel& obs_;
  const Dataset& data_;
  Index p_, ld_, block_rows_;
  Index n_ = 0;
  const Index* rows_ = nullptr;
  bool sparse_path_;
  bool filled_ = false;
  Vec phi_;
};

}  // namespace bnpvi
