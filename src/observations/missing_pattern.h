// Rows that lack cells: what a model computes for all rows that lack the same cells.
#pragma once
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "foundation/data.h"
#include "foundation/types.h"

namespace bnpvi {

/// Says which cells a row lacks: one entry for each cell that a model can replace by its expectation
/// (ExpectedCells::n_cells), true if the row lacks it.
using MissingCells = std::vector<bool>;

/// Rows that lack the same cells. `at`: their positions in the list of rows of the call, ascending.
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

/// Rows that have the cells x_o and lack the same others, x_m. In a cluster with weights w, the optimal
/// density of the missing cells is q(x_m) ∝ exp⟨φ(x), w⟩, and the row enters statistics by E_q φ(x). One of
/// these features, of weight 1, is the entropy of q, which is 0 in complete rows. All that depends on a row
/// is in reduced features φ'(x_o), the same for all clusters, with φ'_0 = φ_0:
///   log ∫ exp⟨φ(x), w⟩ dx_m = E_q⟨φ(x), w⟩ = ⟨φ'(x_o), w'⟩,
/// and E_q φ(x) is linear in φ'(x_o). Features and weights here are the dense ones (SparseEntries::n_dense).
///
/// A row may also hide something in which this is not linear, such as a scale of its own. Then only
/// products() and add() are called, not expand().
class MissingPattern {
 public:
  virtual ~MissingPattern() = default;

  virtual Index n_features() const = 0;  // p', the number of reduced features

  /// Reduced features of rows of this pattern: Φ', n × p', its rows `ld` numbers apart.
  virtual void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const = 0;

  /// Number of reduced weights w': at least p'. The first p' numbers multiply the features.
  virtual Index n_weights() const { return n_features(); }

  /// Writes w', the reduced weights of a cluster with weights w.
  virtual void weights(const double* w, double* reduced) const = 0;

  /// Adds Σ r E_q φ(x) to t, for rows with responsibilities r in a cluster with weights w. reduced: Σ r
  /// φ'(x_o), the sum of their reduced features (p').
  virtual void expand(const double* w, const double* reduced, double* t) const = 0;

  /// log ∫ exp⟨φ(x), w⟩ over the hidden part, for rows with reduced features phi (n × p') in k clusters with
  /// weights `reduced` (k × n_weights()): out (n × k).
  virtual void products(Index n, const double* phi, Index k, const double* reduced, double* out) const;

  /// Adds Σ_i r_ij E_q φ(x_i) to t_j for each of k clusters j, for rows with reduced features phi. w: the
  /// weights w_j of the clusters; r: n × k.
  virtual void add(Index n, const double* phi, Index k, const double* r, const double* const* w,
                   double* const* t) const;

  /// log p(x_o | data with statistic T) for rows with reduced features phi (n × p'): the exact marginal of
  /// the posterior predictive.
  virtual void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const = 0;
};

/// The pattern of rows without a likelihood: their features are zero but for φ_0.
std::unique_ptr<const MissingPattern> nothing_observed();

}  // namespace bnpvi
