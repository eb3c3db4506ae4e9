// A block of rows in feature space, and its two products with clusters.
#pragma once
#include <map>

#include "foundation/pool.h"
#include "observations/responsibilities.h"
#include "observations/weights.h"

namespace bnpvi {

/// What a visit of rows costs, as Pool::spend() counts it: for each row and each of k clusters a product of
/// the features that may not be 0, and some exponentials. entries: what sparse data store of these rows. It
/// is the same whatever batches the rows are in.
double cost_of_rows(const ObsModel& obs, const Dataset& data, Index rows, Index entries, Index k);

/// What sparse data store of these rows; 0 for dense data.
Index stored_entries(const Dataset& data, const std::vector<Index>& rows);

/// Accumulates T += Rᵀ Φ over blocks of rows. The sums of single features, those of sparse rows and of
/// indicators, are kept transposed until finish(). With `few`, memory is taken only for clusters that receive
/// any mass, if there are no such features.
///
/// Rows that lack cells enter by what is expected under the weights of the clusters, those of a cluster
/// without data until others are given.
class FeatureSum {
 public:
  FeatureSum(const ObsModel& obs, const DataShape& data, Index k, bool few = false);
  /// Cluster j has row (*number)[j] of these weights, or row j; both must outlive the sum.
  void expect_under(const Weights& weights, const std::vector<Index>* number = nullptr);
  /// Adds the sum to t (K × p).
  void finish(double* t) const { finish(t, 0, k_); }

 private:
  friend class FeatureBlock;
  friend void set_to_sum(const std::vector<const FeatureSum*>&, double*, Pool*);
  void finish(double* t, Index first, Index end) const;  // of some of the clusters
  int place(int cluster);                                // row of sum_ where the cluster's statistic is
  Index k_, p_;
  Index dense_;  // features summed as they lie: 0 for sparse rows
  bool few_;
  std::vector<int> place_;  // when few_: −1 or the row of each cluster
  Vec sum_;                 // K × dense_, or of fewer clusters
  Vec transposed_;          // p − dense_ × K
  Vec weight_;              // scratch: what one row adds to which clusters
  std::vector<int> where_;
  const Weights* expected_ = nullptr;
  const std::vector<Index>* number_ = nullptr;
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
  /// One cluster: t (p) += Σ_i r_i φ(row_i); of rows that lack cells what is expected under its weights w
  /// (p), by default those of a cluster without data.
  void add_weighted(const double* r, double* t, const double* w = nullptr) const;
  /// The same with r the weights of the rows.
  void add_rows(double* t, const double* w = nullptr) const;

  /// Fills loaded rows that lack cells (ExpectedCells): from now on they have the features expected under
  /// w (p), or null as above. Otherwise products with a cluster integrate these cells out, under its weights.
  void complete(const double* w);

  /// log p(x | data with statistic T) − log h(x) of the loaded rows, of what is observed of them.
  void log_predictive(const double* t, double* out);

  Index n() const { return n_; }
  double weight(Index i) const { return data_.weight_of(rows_[i]); }  // of the i-th loaded row
  bool weighted() const { return data_.weight != nullptr; }
  bool labelled() const { return data_.classes != nullptr; }
  /// True when the i-th loaded row may belong to a cluster of this owner; only if labelled().
  bool allows(Index i, int owner) const { return data_.class_sets->allows(data_.classes[rows_[i]], owner); }
  /// Φ of the loaded rows, n × p with rows ld() apart, all features dense; zero in dense features of rows
  /// that lack cells and are not completed.
  const double* features();
  Index ld() const { return ld_; }

 private:
  // Entries of a row beside its dense features, numbered from the first feature that may be one.
  struct RowEntries {
    Index n;
    const int* at;
    const double* value;
  };
  RowEntries entries(Index row) const;
  double entries_dot(const Weights& weights, int cluster, Index row) const;  // their part of ⟨φ(row), w⟩
  // Loaded rows that lack the same cells.
  struct Incomplete {
    std::shared_ptr<const MissingPattern> pattern;
    std::vector<Index> at;
    Vec phi;  // reduced features
  };
  void find_incomplete();
  void times_own_complete(const Weights& weights, const int* cluster, Index width, double* c) const;
  // Of the rows first .. last − 1 of a group.
  Vec reduced_products(const Incomplete& group, const Weights& weights, const std::vector<int>& clusters,
                       Index first, Index last) const;
  void times_own_incomplete(const Incomplete& group, const Weights& weights, const int* cluster, Index width,
                            double* c) const;
  void add_incomplete(const Incomplete& group, const Responsibilities& r, FeatureSum& sum) const;
  Index first_entry() const { return sparse_path_ ? 1 : dense_; }
  void add_entries(const Responsibilities& r, FeatureSum& sum) const;

  const ObsModel& obs_;
  const Dataset& data_;
  const ExpectedCells* cells_;
  const SparseEntries* sparse_;
  bool all_incomplete_;  // by ExpectedCells::all_rows()
  Index p_;
  bool sparse_path_;  // all features but φ_0 are entries, those of the data
  Index dense_;       // features in dense_phi_: none on the sparse path
  Index ld_, dense_ld_, block_rows_;
  Index n_ = 0;
  const Index* rows_ = nullptr;
  bool filled_ = false;
  Vec phi_;        // all features, only where someone asks for them
  Vec dense_phi_;  // dense features
  Entries hot_;
  Vec ones_;
  std::map<MissingCells, std::shared_ptr<const MissingPattern>> patterns_;  // seen so far
  std::vector<Incomplete> incomplete_;
  bool any_complete_ = true;  // of the loaded rows: others have no dense features
  Vec prior_;                 // weights of a cluster without data
};

}  // namespace bnpvi
