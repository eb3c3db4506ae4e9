// Groups of rows that lack the same cells, and what a model computes for all rows of such a group.
#pragma once
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "foundation/data.h"
#include "foundation/types.h"

namespace bnpvi {

/// Which cells a row lacks: one entry for each cell that a model can replace by its expectation (their number
/// is ExpectedCells::n_cells), true if the row lacks the cell.
using MissingCells = std::vector<bool>;

/// A group of rows that lack the same cells. `at`: their positions in the list of rows that was passed,
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

/// What a model computes for rows that have the cells x_o and lack the same others, x_m. In a cluster with
/// weights w, the optimal density of the missing cells is q(x_m) ∝ exp⟨φ(x), w⟩, and statistics use E_q φ(x)
/// in place of the features φ(x). One of these features, of weight 1, is the entropy of q, which is 0 in
/// complete rows. Everything that depends on a row is in reduced features φ'(x_o), the same for all clusters,
/// with φ'_0 = φ_0; w' are reduced weights:
///   log ∫ exp⟨φ(x), w⟩ dx_m = E_q⟨φ(x), w⟩ = ⟨φ'(x_o), w'⟩,
/// and E_q φ(x) is linear in φ'(x_o). Features and weights here are the dense ones (SparseEntries::n_dense).
///
/// Some rows also hide a quantity, such as a scale of their own, for which this linearity fails. Only
/// products() and add() are called for such rows, not expand().
class MissingPattern {
 public:
  virtual ~MissingPattern() = default;

  virtual Index n_features() const = 0;  // p', the number of reduced features

  /// Writes the reduced features of n rows of this pattern to phi: n × p', its rows `ld` numbers apart.
  virtual void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const = 0;

  /// Number of reduced weights w' of a cluster: at least p'. The first p' of them multiply the p' reduced
  /// features.
  virtual Index n_weights() const { return n_features(); }

  /// Computes the weights by which the reduced features (those of rows that lack these cells) are multiplied,
  /// into `reduced` (n_weights() numbers), from the weights w of a cluster for all features of complete rows.
  virtual void weights(const double* w, double* reduced) const = 0;

  /// Adds to the statistic t of a cluster with weights w the expected features of its rows, Σ r E_q φ(x),
  /// with r the rows' responsibilities. reduced: the sum Σ r φ'(x_o) of the rows' reduced features (p'
  /// numbers).
  virtual void expand(const double* w, const double* reduced, double* t) const = 0;

  /// Writes to `out` (n × k) the log weights of n rows in k clusters, log ∫ exp⟨φ(x), w⟩ (an integral over
  /// the missing cells of features times weights). phi: the rows' reduced features (n × p'); reduced: the
  /// clusters' reduced weights (k × n_weights()).
  virtual void products(Index n, const double* phi, Index k, const double* reduced, double* out) const;

  /// Adds the expected features of n rows, Σ_i r_ij E_q φ(x_i), to the statistic t[j] of each of k clusters
  /// j. phi: the rows' reduced features (n × p'); r: their responsibilities (n × k); w: the full weights of
  /// each cluster.
  virtual void add(Index n, const double* phi, Index k, const double* r, const double* const* w,
                   double* const* t) const;

  /// Writes log p(x_o | data with statistic T) of n rows with reduced features phi (n × p', rows `ld` numbers
  /// apart): the posterior predictive density with the missing cells integrated out exactly.
  virtual void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const = 0;
};

/// The pattern of rows without any observed cell, hence without a likelihood: all their features but the
/// first are zero.
std::unique_ptr<const MissingPattern> nothing_observed();

}  // namespace bnpvi
