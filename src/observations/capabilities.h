// What some observation models can do in addition to the core (obs_model.h): small interfaces, handed out by
// pointer (Capabilities, below).
#pragma once
#include <memory>
#include <vector>

#include "foundation/data.h"
#include "foundation/named_array.h"
#include "foundation/pool.h"
#include "foundation/types.h"
#include "observations/missing_pattern.h"
#include "observations/obs_model.h"

namespace bnpvi {

class HiddenScales;
class NamedClusters;
class RepeatedRows;

/// The features of n rows that are not dense (n_dense()) and not 0. Row i has those with numbers at[start[i]]
/// .. at[start[i + 1] − 1]; their values are in `value` at the same positions.
struct Entries {
  std::vector<int> start;
  std::vector<int> at;        // counted from the first feature that is not dense
  std::vector<double> value;  // value of each listed feature; empty: all are indicators, 1
};

/// Models with many features that are 0 in most rows, and are therefore kept as a list of entries.
class SparseEntries {
 public:
  /// Features 0 .. n_dense() − 1 may have any values. Each row has only few nonzero features after them, so
  /// that its product with a cluster adds up the weights of these few alone: indicators, which are 1, or
  /// features that belong to one of many times.
  virtual Index n_dense() const = 0;
  /// The dense features alone, as features() writes them.
  virtual void dense_features(const Dataset& data, const Index* rows, Index n, double* phi,
                              Index ld) const = 0;
  /// The nonzero features of the given rows after the first n_dense().
  virtual void entries(const Dataset& data, const Index* rows, Index n, Entries& out) const = 0;

 protected:
  ~SparseEntries() = default;
};

/// Models whose rows hide something. Either cells may be missing that depend on the other cells of their row;
/// they are replaced by their expectation given those. Or every row has a scale that is never observed.
class ExpectedCells {
 public:
  virtual Index n_cells() const = 0;  // cells of a row, at least 1
  /// The rows that lack any of these cells, grouped by the cells that they lack. features() gives zeros for
  /// all their dense features; pattern() gives what takes their place.
  virtual std::vector<IncompleteRows> incomplete_rows(const Dataset& data, const Index* rows,
                                                      Index n) const = 0;
  virtual std::unique_ptr<const MissingPattern> pattern(const MissingCells& missing) const = 0;
  /// Does every row hide something? Then rows without a missing cell, too, count as incomplete.
  virtual bool all_rows() const { return false; }

 protected:
  ~ExpectedCells() = default;
};

/// Models whose rows may lack cells, and how their statistic follows from one of complete rows.
class Gaps {
 public:
  /// `complete_t` is the statistic of rows without gaps under `complete`, the same model for data without
  /// gaps. Writes to t the statistic that these rows have under this model.
  virtual void from_complete(const ObsModel& complete, const double* complete_t, double* t) const = 0;

 protected:
  ~Gaps() = default;
};

/// A factor h(x) of the likelihood, not 1 for all rows, that has no parameters and whose logarithm is not
/// linear in φ(x).
class BaseMeasure {
 public:
  virtual void log_base(const Dataset& data, const Index* rows, Index n, double* out) const = 0;  // log h(x)

 protected:
  ~BaseMeasure() = default;
};

/// Models whose rows are multisets of tokens, φ(x) = (1, counts). Λ does not depend on T_0, so that the
/// tokens of one row may belong to different clusters.
class TokenCounts {
 public:
  /// λ, the Dirichlet parameters of the prior (D numbers). The point estimate of a single row x of n tokens
  /// is n (λ + x) / Σ (λ + x), and its weights are the logarithms of these proportions, so that a divergence
  /// between rows needs only their nonzero counts.
  virtual const Vec& pseudo_counts() const = 0;

 protected:
  ~TokenCounts() = default;
};

/// How thoroughly a prior is learned. `ascent`: some steps of ascent in its continuous hyperparameters.
/// `search`: also steps to neighbouring points of the grids of its other hyperparameters, which costs about
/// ten times as much.
enum class PriorSteps { ascent, search };

/// A prior of clusters that is learned from the clusters. The learned values are part of the model: learning
/// returns another model.
///
/// The objective is Σ_k Λ(T_k), plus occupied_term(T_k) for each cluster with observations, plus
/// log_hyperprior() once. If hyperparameters have posteriors q(H), these terms make the sum a lower bound of
/// the log evidence in the model of all clusters and hyperparameters. If only their best values are kept,
/// log_hyperprior() is the log density of these values.
class LearnedPrior {
 public:
  /// Returns this model with a prior under which the objective above, for K clusters with statistics T (K ×
  /// p), is at least as large, up to rounding. nullptr where no better prior is found, or where there are too
  /// few clusters to estimate what they have in common.
  virtual std::shared_ptr<const ObsModel> learned(const double* t, Index k, PriorSteps steps,
                                                  Pool* pool) const = 0;
  /// −KL(q(H) ‖ p(H)), or the log density of the prior's present values; 0 if that density is constant.
  virtual double log_hyperprior() const { return 0; }
  /// The term of a cluster with observations; 0 for an empty one, which carries no information on the prior.
  virtual double occupied_term(const double* /*t*/) const { return 0; }
  virtual bool has_occupied_term() const { return false; }  // can occupied_term() differ from 0?
  /// Present values of the fields that learned() changes, by their names in the R list.
  virtual NamedArrays learned_fields() const = 0;

 protected:
  ~LearnedPrior() = default;
};

/// Models whose features depend on the centre and unit of the columns.
class ColumnUnits {
 public:
  /// Turns a cluster's T under `from`, this model with other values of prior, centre and unit, into the T
  /// that the same rows have under this model.
  virtual void re_express(const ObsModel& from, double* t) const = 0;
  /// Loss of precision that the prior alone causes: the factor ≥ 1 by which second moments of the prior
  /// exceed the variances that remain after squared means are subtracted. Every cluster's Λ has a relative
  /// error of about this factor times machine epsilon.
  virtual double strain() const = 0;

 protected:
  ~ColumnUnits() = default;
};

/// A faster point_estimate() for single rows, where one row changes only a small part of the prior.
class RowEstimates {
 public:
  /// point_estimate() for T = times × φ, that is, for one row that counts `times` times; up to rounding.
  /// Equal rows give the same bits.
  virtual void row_estimate(const double* phi, double times, double* mean, double* w) const = 0;

 protected:
  ~RowEstimates() = default;
};

/// An urn is one cluster as samplers use it: single rows are taken out and put back. It is an array that
/// holds T (p numbers), followed by what predictives would otherwise derive from T for every row. It has no
/// pointers, so that copying the numbers copies the urn.
class Urn {
 public:
  virtual Index urn_size() const = 0;  // ≥ p
  /// Computes the numbers after T from T.
  virtual void fill_urn(double* urn) const = 0;
  /// Updates the numbers after T when T has just become T + sign φ, with φ the features of a row that was put
  /// in (sign 1) or taken out (−1).
  virtual void refill_urn(double* urn, const double* /*phi*/, double /*sign*/) const { fill_urn(urn); }
  /// The log predictive density (ObsModel::log_predictive) of one row with φ_0 = 1 under each of K urns,
  /// which are stored one after the other (K × urn_size()).
  virtual void urn_predictives(const double* urns, Index k, const double* phi, double* out) const = 0;

 protected:
  ~Urn() = default;
};

/// Models whose clusters change over time, and whose first times can be dropped once they are summarised.
class ForgetsTimes {
 public:
  /// Drops the first `gone` times of a cluster: returns a statistic under the model of the times from the
  /// last of these on that carries all that they imply for later times. Λ of any further rows changes by a
  /// constant only, which is added to `constant`.
  virtual Vec condensed(const double* t, Index gone, double& constant) const = 0;
  /// Strength of the prior of the mean at a time in a cluster without rows, given the times before; times
  /// count from 0, the first.
  virtual double strength_at(Index time) const = 0;

 protected:
  ~ForgetsTimes() = default;
};

/// The optional abilities of a model. A pointer is null where the model lacks the ability; pointers live as
/// long as the model. Call ObsModel::capabilities() once, outside loops.
struct Capabilities {
  Index lag = 0;        // rows at the start of each group that are only conditioned on, without a likelihood
  bool linear = false;  // φ(x) = (1, x): sparse rows are multiplied directly, without features()
  /// Does features() scale rows that are very far out towards 0 (obs_model.h)? log_predictive() then takes
  /// account of it.
  bool far_rows = false;
  /// Features of rows differ by so many orders of magnitude that the rounding error left in a sum after a
  /// row is subtracted may exceed all that remains. Totals are therefore added up again from their parts.
  bool wide_sums = false;

  const SparseEntries* entries = nullptr;
  const ExpectedCells* cells = nullptr;
  const HiddenScales* scales = nullptr;  // set if rows have unobserved scales (hidden_scales.h)
  const Gaps* gaps = nullptr;
  const BaseMeasure* base = nullptr;
  const TokenCounts* tokens = nullptr;
  const LearnedPrior* prior = nullptr;
  const ColumnUnits* units = nullptr;
  const RowEstimates* row_estimates = nullptr;
  const Urn* urn = nullptr;
  const ForgetsTimes* times = nullptr;
  const NamedClusters* names = nullptr;       // set if clusters may have names (named_clusters.h)
  const RepeatedRows* individuals = nullptr;  // set if rows are sums over the rows of individuals
};

// For callers that need not know whether a model has an ability: each returns the model's own, or the default
// named in the comment beside it.

const LearnedPrior& prior_of(const ObsModel& obs);  // default: a prior that is not learned
const ColumnUnits& units_of(const ObsModel& obs);   // default: T stays the same, strain 1
const BaseMeasure& base_of(const ObsModel& obs);    // default: h = 1
/// Λ(T), plus the occupied term of a learned prior if the cluster has observations. For sums over clusters
/// and comparisons of such sums; not for predictives, urns and draws.
double used_evidence(const ObsModel& obs, const double* t);
Index n_dense(const ObsModel& obs);                      // default: all features
Index n_cells(const ObsModel& obs);                      // default: 0
bool hides_scales(const ObsModel& obs);                  // ExpectedCells::all_rows(); default: false
std::shared_ptr<const Urn> urn_of(const ObsModel& obs);  // default: T alone, with log_predictive()
std::shared_ptr<const RowEstimates> row_estimates_of(const ObsModel& obs);  // default: PlainRowEstimates

/// Row estimates of any model: point_estimate() of T = times × φ.
class PlainRowEstimates final : public RowEstimates {
 public:
  explicit PlainRowEstimates(const ObsModel& obs) : obs_(obs) {}
  void row_estimate(const double* phi, double times, double* mean, double* w) const override;

 private:
  const ObsModel& obs_;
};

/// Converts the statistic T of rows without gaps from the model `from` to the model `to` (written to `out`).
/// The two are the same model but for gaps: `from` has none, or, if a product, in fewer blocks; or `from` is
/// `to`.
void complete_to_gaps(const ObsModel& from, const double* t, const ObsModel& to, double* out);

/// Casts `obs` to Model, for functions that receive another model made from the same fields.
template <class Model>
const Model& same_kind(const ObsModel& obs) {
  return dynamic_cast<const Model&>(obs);
}
template <class Model>
std::shared_ptr<const Model> same_kind(const std::shared_ptr<const ObsModel>& obs) {
  return {obs, &same_kind<Model>(*obs)};
}

/// Orders rows: complete rows first, then rows that lack the same cells next to each other, in their order
/// within each group. A block of rows then has few patterns of missing cells, and its cost grows with their
/// number.
void sort_by_missing_cells(const ObsModel& obs, const Dataset& data, std::vector<Index>& rows);

/// Σ w log h(x) over the given rows, with w the weights of the rows; the result does not depend on the pool.
double sum_log_base(const ObsModel& obs, const Dataset& data, const std::vector<Index>& rows, Pool* pool);

}  // namespace bnpvi
