// A block of rows in feature space, and its two products with clusters.
#pragma once
#include "foundation/pool.h"
#include "observations/obs_model.h"
#include "observations/responsibilities.h"

namespace bnpvi {

/// Weights ∇Λ(T_k) of K clusters (obs_model.h) in the layouts that products with features need.
struct Weights {
  Index k = 0;
  Index p = 0;
  Buffer w;           // K × p
  Buffer transposed;  // p × K, of linear models; or empty
  Buffer packed;      // as Kernels::pack lays w out, for products with many blocks of rows; or empty

  void transpose(Pool* pool = nullptr);  // fills `transposed` from w
  void add_constants(const Vec& c);      // to ⟨φ, w_k⟩, for φ_0 = 1; before pack()
  void pack(const ObsModel& obs,
            const DataShape& data);  // fills `packed` from w, if products with these data use it
};

/// ∇Λ(T_k) for all clusters of t (K × p), on the threads of the pool if one is given. evidence: receives
/// Λ(T_k), K numbers, unless null. products: false leaves `transposed` empty for linear models too, whose
/// products then cannot be formed.
Weights make_weights(const ObsModel& obs, const double* t, Index k, Pool* pool = nullptr,
                     double* evidence = nullptr, bool products = true);

/// Accumulates T += Rᵀ Φ over blocks of rows. For sparse rows the sum is kept transposed until finish(). With
/// `few`, memory is taken only for clusters that receive any mass.
class FeatureSum {
 public:
  FeatureSum(const ObsModel& obs, const DataShape& data, Index k, bool few = false);
  /// Adds the sum to t (K × p).
  void finish(double* t) const { finish(t, 0, k_); }

 private:
  friend class FeatureBlock;
  friend void set_to_sum(const std::vector<const FeatureSum*>&, double*, Pool*);
  void finish(double* t, Index first, Index end) const;  // of some of the clusters
  int place(int cluster);                                // row of sum_ where the cluster's statistic is
  Index k_, p_;
  bool transposed_, few_;
  std::vector<int> place_;  // when few_: −1 or the row of each cluster
  Vec sum_;
  Vec weight_;  // scratch: what one row adds to which clusters
  std::vector<int> where_;
};

/// t (K × p) ← the sum of one or more FeatureSums of the same model and K, added in their order; tasks of the
/// pool take some clusters each.
void set_to_sum(const std::vector<const FeatureSum*>& sums, double* t, Pool* pool);

/// Scratch of one thread: loads rows as features, multiplies them with weights, and adds them up by
/// responsibility. Memory: block_rows() × p.
class FeatureBlock {
 public:
  FeatureBlock(const ObsModel& obs, const Dataset& data);

  /// Rows that are loaded at a time, at most: a function of p only, so that results depend on nothing else.
  Index block_rows() const { return block_rows_; }

  void load(const Index* rows, Index n);
  void times(const Weights& weights, double* c) const;  // C (n × K) = Φ Wᵀ
  /// Φ W_chosenᵀ for some of the rows and some of the clusters, transposed: c is chosen × n.
  void times_some(const Weights& weights, const std::vector<int>& chosen, Index first, Index n,
                  double* c) const;
  /// Each row with its own `width` clusters (n × width), c likewise.
  void times_own(const Weights& weights, const int* cluster, Index width, double* c) const;
  void add_weighted(const Responsibilities& r, FeatureSum& sum) const;  // sum += Rᵀ Φ
  /// One cluster: t (p) += Σ_i r_i φ(row_i).
  void add_weighted(const double* r, double* t) const;

  Index n() const { return n_; }
  /// Φ of the loaded rows, n × p with rows ld() apart, dense for every model.
  const double* features();
  Index ld() const { return ld_; }

 private:
  double sparse_dot(const Weights& weights, int cluster, Index row) const;  // ⟨φ(row), w_cluster⟩

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
