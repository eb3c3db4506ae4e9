// Rows that lack cells: what a model does with all that lack the same ones.
#pragma once
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "foundation/data.h"
#include "foundation/types.h"

namespace bnpvi {

/// Which of the cells that a model expects (ExpectedCells::n_cells) a row lacks.
using MissingCells = std::vector<bool>;

/// Rows that lack the same cells, by their positions among the rows asked for, ascending.
struct IncompleteRows {
  MissingCells missing;
  std::vector<Index> at;
};

/// Collects rows, one after the other, by what they lack.
class IncompleteGroups {
 public:
  void add(Index row, const MissingCells& missing);
  std::vector<IncompleteRows> take() { return std::move(groups_); }

 private:
  std::vector<IncompleteRows> groups_;
  std::map<MissingCells, std::size_t> number_;
  std::size_t last_ = 0;
};

/// Rows that have the cells x_o and lack the same others, x_m. In a cluster with weights w the missing cells
/// have the density q(x_m) ∝ exp⟨φ(x), w⟩, the best for these weights, and the row enters statistics by
/// E_q φ(x), to which belongs the entropy of q, a feature of weight 1 that is 0 in complete rows. All that
/// depends on a row is in reduced features φ'(x_o), the same for all clusters, with φ'_0 = φ_0:
///   log ∫ exp⟨φ(x), w⟩ dx_m = E_q⟨φ(x), w⟩ = ⟨φ'(x_o), w'⟩,
/// and E_q φ(x) is linear in φ'(x_o). Features and weights are here the dense ones (SparseEntries::n_dense).
///
/// Beside cells a row may hide what is not linear, such as a scale of its own: then products() and add() are
/// what rows are asked for, and expand() is not used.
class MissingPattern {
 public:
  virtual ~MissingPattern() = default;

  virtual Index n_features() const = 0;  // p'

  /// Φ', n × p' with rows `ld` apart, of rows of this pattern.
  virtual void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const = 0;

  /// How many numbers w' are: p', or more, the first p' going with the features.
  virtual Index n_weights() const { return n_features(); }

  /// w' of a cluster with weights w.
  virtual void weights(const double* w, double* reduced) const = 0;

  /// t += Σ r E_q φ(x) for rows with Σ r φ'(x_o) = reduced (p'), in a cluster with weights w.
  virtual void expand(const double* w, const double* reduced, double* t) const = 0;

  /// log ∫ exp⟨φ(x), w⟩ over what is hidden, of rows with features phi (n × p') in k clusters with weights
  /// `reduced` (k × n_weights()): out (n × k).
  virtual void products(Index n, const double* phi, Index k, const double* reduced, double* out) const;

  /// t_j += Σ_i r_ij E_q φ(x_i) of the same rows, r (n × k), in k clusters with weights w_j.
  virtual void add(Index n, const double* phi, Index k, const double* r, const double* const* w,
                   double* const* t) const;

  /// log p(x_o | data with statistic T) for rows with reduced features phi (n × p'): the exact marginal of
  /// the posterior predictive.
  virtual void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const = 0;
};

/// Rows without likelihood: their features are zero but for φ_0.
std::unique_ptr<const MissingPattern> nothing_observed();

}  // namespace bnpvi
