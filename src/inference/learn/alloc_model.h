// The contract of an allocation model: which cluster an observation belongs to.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "foundation/named_array.h"
#include "inference/joins/joins.h"
#include "inference/learn/visit.h"

namespace bnpvi {

struct AllocCapabilities;  // alloc_capabilities.h
struct MoveKind;
struct Problem;

/// Named terms of the ELBO in a fixed order; they sum to it.
using Terms = std::vector<std::pair<std::string, double>>;

/// Constraint of a fit on q(z): how many clusters a row or token may belong to.
struct Sparsity {
  Index width = 0;  // L: clusters that a row, or a token, may belong to; 0: all
  /// Neighbours of its best cluster with which an L-sparse row is compared; 0: the model's default.
  Index candidates = 0;
};

/// What is the same for all states of a model.
struct AllocFacts {
  bool grouped;            // units are groups of rows, not single rows
  bool ordered;            // the objective depends on the order of the clusters: reordering is a move
  Index fixed_k = 0;       // number of clusters, 0 where the model lets it vary
  bool sticks = false;     // the globals have top-level sticks: u and omega, one of each for every cluster
  Index group_values = 0;  // numbers of each group that the model takes (Dataset::group_value)
  /// Covariate patterns of rows, which clusters count with the last features (PatternedRows); 0: none.
  Index patterns = 0;
  Index weight_values = 0;  // numbers of each cluster's weight that the globals keep in u, but for sticks
};

/// The prior of the assignments z and the form of q(z). Immutable.
///
/// Laws: after global_step the ELBO is a maximum over the global parameters; local_step followed by
/// global_step never lowers the ELBO; batches' summaries add up to the whole data's.
class AllocModel {
 public:
  AllocModel(const AllocFacts& facts, const Sparsity& sparsity) : facts_(facts), sparsity_(sparsity) {}
  virtual ~AllocModel() = default;

  bool grouped() const { return facts_.grouped; }
  bool ordered() const { return facts_.ordered; }
  Index fixed_k() const { return facts_.fixed_k; }
  bool has_sticks() const { return facts_.sticks; }
  Index group_values() const { return facts_.group_values; }
  Index patterns() const { return facts_.patterns; }
  /// Numbers of u and of omega that the globals of k clusters have.
  Index numbers_in_u(Index k) const { return k * (facts_.sticks ? 1 : facts_.weight_values); }
  Index numbers_in_omega(Index k) const { return facts_.sticks ? k : 0; }
  /// L of L-sparse responsibilities; 0: dense.
  Index width() const { return sparsity_.width; }

  /// Sizes of the summaries of this model with the given observation model.
  virtual SummaryShape shape(const ObsModel& obs) const = 0;

  /// Summary of the optimal q(z) of the given units at fixed globals; where the optimum is local or
  /// constrained (L-sparse), of one that is not below what visit.memory holds.
  virtual Summary local_step(const Visit& visit) const = 0;

  /// A new visitor for one lap. The default calls local_step().
  virtual std::unique_ptr<Visitor> visitor() const;

  /// Summary of the given units when their rows have the given responsibilities, for starts and tests.
  virtual Summary summarise(const Visit& visit, const GivenResponsibilities& resp) const = 0;

  /// Globals that maximise the ELBO given the whole-data summary; `from` warm-starts iterative searches (its
  /// u and omega may be empty or of another length).
  virtual Globals global_step(const Summary& total, const Globals& from) const = 0;

  /// Globals moved by a natural-gradient step of the given rate towards those of a noisy whole-data summary.
  virtual Globals stochastic_step(const Globals& from, const Summary& noisy, double rate) const = 0;

  /// Terms of the ELBO other than those of data and hyperpriors, for assignments with the summary `total`;
  /// globals need not be optimal.
  virtual Terms elbo_terms(const Summary& total, const Globals& globals) const = 0;

  /// E[π_k] of the K clusters and, in infinite models, the remainder after them (K + 1 numbers).
  virtual Vec mean_weights(const Globals& globals) const = 0;
  /// Parameters of q(π) for users: sticks, counts, transition rows, ...
  virtual NamedArrays posterior(const Globals& globals) const = 0;

  /// The moves of this family, in the order in which they take turns.
  virtual std::vector<MoveKind> moves() const = 0;

  /// What this model has beside all this; nothing by default.
  virtual AllocCapabilities capabilities() const;

 protected:
  const AllocFacts facts_;
  const Sparsity sparsity_;
};

}  // namespace bnpvi
