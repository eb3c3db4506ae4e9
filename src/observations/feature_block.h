// Blocks of rows as features Φ, and their two products with clusters: Φ Wᵀ and Rᵀ Φ.
#pragma once
#include <map>

#include "foundation/pool.h"
#include "observations/responsibilities.h"
#include "observations/weights.h"

namespace bnpvi {

/// The cost of responsibilities and statistics of these rows for k clusters, in the unit of Pool::spend().
/// For each row and cluster it counts a product over the features that can be nonzero, and some exponentials.
/// entries: stored_entries() of these rows. The cost does not depend on how rows are divided into batches.
double cost_of_rows(const ObsModel& obs, const Dataset& data, Index rows, Index entries, Index k);

/// The number of entries that sparse data store for these rows; 0 for dense data.
Index stored_entries(const Dataset& data, const std::vector<Index>& rows);

/// The sum of statistics T += Rᵀ Φ over blocks of rows, with responsibilities R and features Φ. The sums of
/// sparse rows and of indicator features are kept transposed until finish(). With `few`, memory is allocated
/// only for clusters that get any mass (unless there are sparse features). Missing cells are replaced by
/// their expectation under the weights of the clusters set by expect_under(); without that call under those
/// of a cluster without data.
class FeatureSum {
 public:
  FeatureSum(const ObsModel& obs, const DataShape& data, Index k, bool few = false);
  /// Sets the weights under which missing cells are replaced by expectations. Cluster j has row (*number)[j]
  /// of `weights`, or row j if number is null. Both arguments must outlive the sum.
  void expect_under(const Weights& weights, const std::vector<Index>* number = nullptr);
  /// Adds the accumulated statistics to t (K × p).
  void finish(double* t) const { finish(t, 0, k_); }

 private:
  friend class FeatureBlock;
  friend void set_to_sum(const std::vector<const FeatureSum*>&, double*, Pool*);
  void finish(double* t, Index first, Index end) const;  // adds only clusters first .. end − 1
  int place(int cluster);                                // row of sum_ that holds this cluster's statistic
  Index k_, p_;
  Index dense_;  // number of features summed without transposing: 0 for sparse rows
  bool few_;
  std::vector<int> place_;  // with few_: row of sum_ that belongs to each cluster, or −1
  Vec sum_;                 // sums of dense features, K × dense_; with few_ fewer rows
  Vec transposed_;          // sums of the other features, (p − dense_) × K
  Vec weight_;              // scratch: a row's nonzero responsibilities; where_: their clusters' rows of sum_
  std::vector<int> where_;
  const Weights* expected_ = nullptr;
  const std::vector<Index>* number_ = nullptr;
};

/// Sets t (K × p) to the sum of one or more FeatureSums of the same model and K clusters, added in their
/// order; each task of the pool computes some of the clusters.
void set_to_sum(const std::vector<const FeatureSum*>& sums, double* t, Pool* pool);

/// A block of rows in the working memory of one thread. It loads rows as features, multiplies these by the
/// weights of clusters, and adds them up weighted by responsibilities. Memory: block_rows() × p.
class FeatureBlock {
 public:
  FeatureBlock(const ObsModel& obs, const Dataset& data);

  /// The largest number of rows that load() accepts. It depends only on p, the number of features, and so
  /// results do not depend on anything else.
  Index block_rows() const { return block_rows_; }

  void load(const Index* rows, Index n);
  void times(const Weights& weights, double* c) const;  // all products C = Φ Wᵀ, n × K
  /// Computes products of n loaded rows, from row `first` on, with the chosen clusters only. The result is
  /// transposed: c is chosen × n.
  void times_some(const Weights& weights, const std::vector<int>& chosen, Index first, Index n,
                  double* c) const;
  /// Computes the products of each row with `width` clusters that are chosen for this row. cluster: their
  /// numbers, n × width; c: the products, n × width.
  void times_own(const Weights& weights, const int* cluster, Index width, double* c) const;
  void add_weighted(const Responsibilities& r, FeatureSum& sum) const;  // sum += Rᵀ Φ
  /// Adds Σ_i r_i φ(x_i) over the loaded rows to the statistic t of one cluster (p numbers). r_i:
  /// responsibility of row i. w: the weights of the cluster (p numbers), under which missing cells are
  /// replaced by expectations; null: those of a cluster without data.
  void add_weighted(const double* r, double* t, const double* w = nullptr) const;
  /// Adds the features of all loaded rows, each times the weight of its row, to the statistic t of one
  /// cluster. w: as in add_weighted().
  void add_rows(double* t, const double* w = nullptr) const;

  /// Replaces missing cells (ExpectedCells) of the loaded rows by their expectation under the weights w of a
  /// cluster (p numbers); null: of a cluster without data. Without this call, missing cells are integrated
  /// out in products with a cluster, under the weights of that cluster.
  void complete(const double* w);

  /// Computes the log predictive densities log p(x | data with statistic t) − log h(x) of the loaded rows,
  /// given their observed cells; h is the base measure (BaseMeasure).
  void log_predictive(const double* t, double* out);

  Index n() const { return n_; }
  double weight(Index i) const { return data_.weight_of(rows_[i]); }  // weight of the i-th loaded row
  bool weighted() const { return data_.weight != nullptr; }
  bool labelled() const { return data_.classes != nullptr; }
  /// True when the i-th loaded row may belong to a cluster of the class `owner` (0: a cluster of no class).
  /// Only if labelled().
  bool allows(Index i, int owner) const { return data_.class_sets->allows(data_.classes[rows_[i]], owner); }
  /// The features Φ of the loaded rows, sparse ones included: n × p, rows ld() apart. In rows that lack cells
  /// the dense features are 0, unless complete() was called.
  const double* features();
  Index ld() const { return ld_; }

 private:
  // The nonzero sparse features of a row, which come after the dense features; `at` counts from the first
  // sparse feature.
  struct RowEntries {
    Index n;
    const int* at;
    const double* value;
  };
  RowEntries entries(Index row) const;
  double entries_dot(const Weights& weights, int cluster, Index row) const;  // their part of ⟨φ, w⟩
  // Loaded rows that lack the same cells, and their features without these cells.
  struct Incomplete {
    std::shared_ptr<const MissingPattern> pattern;
    std::vector<Index> at;
    Vec phi;  // their reduced features, computed from the observed cells
  };
  void find_incomplete();
  void times_own_complete(const Weights& weights, const int* cluster, Index width, double* c) const;
  // The products of some rows that lack cells with the weights w of clusters, rows × clusters: rows first ..
  // last − 1 of the group. A complete row has the product ⟨φ(x), w⟩ with its features φ. A row that lacks
  // cells has log ∫ exp⟨φ(x), w⟩, an integral over the missing cells.
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
  bool all_incomplete_;  // do all rows count as incomplete (ExpectedCells::all_rows())?
  Index p_;
  bool sparse_path_;  // are all features but φ_0 the stored entries of sparse data?
  Index dense_;       // number of features in dense_phi_: 0 on the sparse path
  Index ld_, dense_ld_, block_rows_;
  Index n_ = 0;
  const Index* rows_ = nullptr;
  bool filled_ = false;
  Vec phi_;        // all features; filled only by features()
  Vec dense_phi_;  // dense features of the loaded rows
  Entries hot_;
  Vec ones_;
  std::map<MissingCells, std::shared_ptr<const MissingPattern>> patterns_;  // patterns met so far
  std::vector<Incomplete> incomplete_;
  bool any_complete_ = true;  // is any loaded row complete? Incomplete ones have no dense features
  Vec prior_;                 // weights of a cluster without data
};

}  // namespace bnpvi
