// The interface of allocation models. An allocation model determines to which cluster an observation belongs.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "foundation/named_array.h"
#include "inference/joins/joins.h"
#include "inference/learn/visit.h"

namespace bnpvi {

struct AllocCapabilities;  // see alloc_capabilities.h
struct MoveKind;
struct Problem;

/// Named terms of the ELBO in a fixed order; their sum is the ELBO.
using Terms = std::vector<std::pair<std::string, double>>;

/// A constraint on q(z): the number of clusters with positive responsibility for a row or token.
struct Sparsity {
  Index width = 0;  // L: largest number of clusters per row or token; 0: no limit
  /// With how many of the clusters near its best one an L-sparse row (in at most L clusters) is compared; 0:
  /// the model's default.
  Index candidates = 0;
};

/// Properties of an allocation model that are the same for all its states.
struct AllocFacts {
  bool grouped;       // units are groups of rows, not single rows
  bool ordered;       // the objective depends on the order of the clusters, so that reordering is a move
  Index fixed_k = 0;  // number of clusters; 0: it may vary
  /// True if the globals have top-level sticks: the stick-breaking fractions of the cluster weights that all
  /// groups share. They are one number in Globals::u and one in Globals::omega for each cluster.
  bool sticks = false;
  // how many numbers the model requires for each group (length of Dataset::group_value)
  Index group_values = 0;
  /// Number of covariate patterns of rows (PatternedRows); 0: none. In the statistics, the last features of a
  /// row count for each cluster how often each pattern occurs.
  Index patterns = 0;
  /// How many numbers Globals::u has for the weight of each cluster, in models without sticks.
  Index weight_values = 0;
};

/// The prior of the assignments z of units to clusters, and the form of q(z). Immutable.
///
/// Every model guarantees:
///   - after global_step() the ELBO is a maximum over the globals (posterior of the parameters);
///   - local_step() followed by global_step() never lowers the ELBO;
///   - the summaries (sums of statistics) of the batches add up to that of all data.
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
  /// The number of values in Globals::u for k clusters, without those for pairs of clusters.
  /// numbers_in_omega(): the same for Globals::omega.
  Index numbers_in_u(Index k) const { return k * (facts_.sticks ? 1 : facts_.weight_values); }
  Index numbers_in_omega(Index k) const { return facts_.sticks ? k : 0; }
  /// L, the largest number of clusters in which a row may have responsibility (Sparsity); 0: no limit.
  Index width() const { return sparsity_.width; }

  /// Dimensions of the summaries (sums of statistics) of this model with the given observation model.
  virtual SummaryShape shape(const ObsModel& obs) const = 0;

  /// Finds the optimal q(z) of the given units (rows or groups) at fixed globals, and returns its summary
  /// (sums of statistics). If the optimum is local or constrained (L-sparse), the ELBO is at least that of
  /// the q(z) in visit.memory.
  virtual Summary local_step(const Visit& visit) const = 0;

  /// Makes a visitor, which makes the visits (updates of q(z)) of one lap. The visits of the default visitor
  /// call local_step().
  virtual std::unique_ptr<Visitor> visitor() const;

  /// Computes the summary (sums of statistics) of the given units from given responsibilities of their rows;
  /// for starts and tests.
  virtual Summary summarise(const Visit& visit, const GivenResponsibilities& resp) const = 0;

  /// Computes the globals (posterior of the parameters) for which the ELBO is largest, given the summary
  /// (sums of statistics) of all data. Iterative searches start at `from`; its u and omega may be empty or of
  /// another length.
  virtual Globals global_step(const Summary& total, const Globals& from) const = 0;

  /// Makes a natural-gradient step of the given rate: from the globals `from` towards those for `noisy`, an
  /// estimate of the summary of all data.
  virtual Globals stochastic_step(const Globals& from, const Summary& noisy, double rate) const = 0;

  /// The terms of the ELBO, except those of data and hyperpriors, for the summary `total`. The globals need
  /// not be optimal for it.
  virtual Terms elbo_terms(const Summary& total, const Globals& globals) const = 0;

  /// Expected weights E[π_k] of the K clusters. In infinite models the expected remainder follows as number K
  /// + 1.
  virtual Vec mean_weights(const Globals& globals) const = 0;
  /// Parameters of q(π), the posterior of the clusters' weights, for users: sticks, counts, transition rows,
  /// ...
  virtual NamedArrays posterior(const Globals& globals) const = 0;

  /// The moves of this model (kinds of proposals that change the clusters), in the order in which they are
  /// tried.
  virtual std::vector<MoveKind> moves() const = 0;

  /// Optional capabilities of this model; none by default.
  virtual AllocCapabilities capabilities() const;

 protected:
  const AllocFacts facts_;
  const Sparsity sparsity_;
};

}  // namespace bnpvi
