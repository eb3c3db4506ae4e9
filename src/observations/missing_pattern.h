// Groups of rows that lack the same cells, and what a model computes for all rows of such a group.
#pragma once
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "foundation/data.h"
#include "foundation/types.h"

namespace bnpvi {

/// Which cells a row lacks: for each cell that a model can replace by its expectation
/// (ExpectedCells::n_cells), true if the row lacks it.
using MissingCells = std::vector<bool>;

/// A group of rows that lack the same cells. at: their positions in the list of rows that was given,
/// ascending.
struct IncompleteRows {
  MissingCells missing;
  std::vector<Index> at;
};

/// Groups rows, added one after the other, by the cells that they lack.
class IncompleteGroups {
 public:
  void add(Index row, const MissingCells& missing);
  std::vector<IncompleteRows> take() { return std::move(groups_); }

 private:
  std::vector<IncompleteRows> groups_;
  std::map<MissingCells, std::size_t> number_;
  std::size_t last_ = 0;
};

/// What a model computes for rows that have the cells x_o and lack the cells x_m. In a cluster with weights
/// w, the optimal density of the missing cells is q(x_m) ∝ exp⟨φ(x), w⟩. Statistics use E_q φ(x) in place of
/// the features φ(x). One of the features, of weight 1, is the entropy of q; it is 0 in complete rows. All
/// that depends on a row is in its reduced features φ'(x_o), with φ'_0 = φ_0. They are the same for all
/// clusters. With the reduced weights w' of a cluster,
///   log ∫ exp⟨φ(x), w⟩ dx_m = E_q⟨φ(x), w⟩ = ⟨φ'(x_o), w'⟩,
/// and E_q φ(x) is linear in φ'(x_o). Features and weights here are the dense ones (SparseEntries::n_dense).
///
/// In some models rows hide something for which this linearity fails, such as a scale of the row. Then
/// expand() is not called, only products() and add().
class MissingPattern {
 public:
  virtual ~MissingPattern() = default;

  virtual Index n_features() const = 0;  // p', the number of reduced features

  /// Writes the reduced features of n rows of this pattern to phi: n × p', its rows `ld` numbers apart.
  virtual void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const = 0;

  /// Number of reduced weights w' of a cluster, at least p'. The first p' of them multiply the reduced
  /// features.
  virtual Index n_weights() const { return n_features(); }

  /// Computes the reduced weights (n_weights() numbers), by which the reduced features of these rows are
  /// multiplied. w: the weights of the cluster for all features of complete rows.
  virtual void weights(const double* w, double* reduced) const = 0;

  /// Adds the expected features of some rows, Σ r E_q φ(x), to the statistic t of a cluster with weights w.
  /// r: responsibilities of the rows. reduced: the sum Σ r φ'(x_o) of their reduced features (p' numbers).
  virtual void expand(const double* w, const double* reduced, double* t) const = 0;

  /// Writes log ∫ exp⟨φ(x), w⟩ dx_m, an integral over the missing cells, for n rows and k clusters to `out`
  /// (n × k). phi: reduced features of the rows (n × p'). reduced: reduced weights of the clusters (k ×
  /// n_weights()).
  virtual void products(Index n, const double* phi, Index k, const double* reduced, double* out) const;

  /// Adds the expected features of n rows, Σ_i r_ij E_q φ(x_i), to the statistic t[j] of each of k clusters.
  /// phi: reduced features of the rows (n × p'). r: responsibilities (n × k). w: weights of each cluster for
  /// all features.
  virtual void add(Index n, const double* phi, Index k, const double* r, const double* const* w,
                   double* const* t) const;

  /// Writes log p(x_o | data with statistic T) for n rows: the posterior predictive density, with the missing
  /// cells integrated out exactly. phi: reduced features (n × p', rows `ld` numbers apart).
  virtual void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const = 0;
};

/// The pattern of rows without any observed cell. They have no likelihood: all their features but the first
/// are zero.
std::unique_ptr<const MissingPattern> nothing_observed();

}  // namespace bnpvi
