// Optional capabilities of observation models beside their core (obs_model.h). Each is a small interface;
// Capabilities (below) has pointers to them.
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

/// The features of n rows that are neither dense (n_dense()) nor 0. Those of row i are the entries start[i]
/// .. start[i + 1] − 1 of `at`, their numbers, and of `value`, their values.
struct Entries {
  std::vector<int> start;
  std::vector<int> at;        // counted from the first feature that is not dense
  std::vector<double> value;  // value of each listed feature; empty: all are indicators, 1
};

/// Models with many features of which most are 0 in a row. A row is kept as a list of its other features.
class SparseEntries {
 public:
  /// The number of dense features. They come first and may have any values. Of the features after them each
  /// row has only few that are not 0. These are indicators, which are 1, or features that belong to one of
  /// many times. A product with a cluster adds up their weights alone.
  virtual Index n_dense() const = 0;
  /// Writes the dense features of the given rows to phi, in the layout of features().
  virtual void dense_features(const Dataset& data, const Index* rows, Index n, double* phi,
                              Index ld) const = 0;
  /// Writes the features of the given rows that are neither dense nor 0 to `out`.
  virtual void entries(const Dataset& data, const Index* rows, Index n, Entries& out) const = 0;

 protected:
  ~SparseEntries() = default;
};

/// Models in which a part of a row is unobserved and is replaced by its expectation given the observed part.
/// This part may be missing cells that depend on the other cells of the row, or a scale that every row has.
class ExpectedCells {
 public:
  virtual Index n_cells() const = 0;  // cells of a row, at least 1
  /// The rows that lack any of these cells, grouped by the cells that they lack. features() writes zeros for
  /// all their dense features. pattern() computes the features that they have instead.
  virtual std::vector<IncompleteRows> incomplete_rows(const Dataset& data, const Index* rows,
                                                      Index n) const = 0;
  virtual std::unique_ptr<const MissingPattern> pattern(const MissingCells& missing) const = 0;
  /// True when a part of every row is unobserved. Rows without a missing cell then count as incomplete, too.
  virtual bool all_rows() const { return false; }

 protected:
  ~ExpectedCells() = default;
};

/// Models for rows with missing cells (gaps) whose statistic follows from that of complete rows.
class Gaps {
 public:
  /// Computes the statistic t that rows without gaps have under this model. complete: the same model for data
  /// without gaps; complete_t: the statistic of the rows under it.
  virtual void from_complete(const ObsModel& complete, const double* complete_t, double* t) const = 0;

 protected:
  ~Gaps() = default;
};

/// The base measure h(x): a factor of the likelihood that has no parameters. Models have this capability if h
/// is not 1 for all rows, and log h is not linear in φ(x).
class BaseMeasure {
 public:
  virtual void log_base(const Dataset& data, const Index* rows, Index n, double* out) const = 0;  // log h(x)

 protected:
  ~BaseMeasure() = default;
};

/// Models whose rows are counts of tokens: the features of a row are (1, counts). The log evidence of a
/// cluster does not depend on its number of rows. So tokens of one row may belong to different clusters.
class TokenCounts {
 public:
  /// λ, the D Dirichlet parameters of the prior. The point estimate for a single row x of n tokens is n (λ +
  /// x) / Σ (λ + x), and its weights are the logarithms of these proportions. So a divergence between rows
  /// follows from their nonzero counts alone.
  virtual const Vec& pseudo_counts() const = 0;

 protected:
  ~TokenCounts() = default;
};

/// How thoroughly a prior is learned. `ascent`: some steps of ascent in its continuous hyperparameters.
/// `search`: also steps to neighbouring grid points of its other hyperparameters, which costs about ten times
/// as much.
enum class PriorSteps { ascent, search };

/// A prior of clusters that is learned from the clusters. The learned values are part of the model: learning
/// returns another model.
///
/// The objective is Σ_k Λ(T_k) + Σ_k occupied_term(T_k) + log_hyperprior(). Λ(T_k) is the log evidence of
/// cluster k with statistic T_k; the second sum is over clusters with observations. If hyperparameters H have
/// posteriors q(H), the objective is a lower bound of the log evidence in the model of all clusters and
/// hyperparameters. If only their best values are kept, log_hyperprior() is the log density of these values.
class LearnedPrior {
 public:
  /// Returns this model with a better prior: the objective for K clusters with statistics T (K × p) is at
  /// least as large, up to rounding. nullptr if no better prior is found, or if there are too few clusters to
  /// learn from.
  virtual std::shared_ptr<const ObsModel> learned(const double* t, Index k, PriorSteps steps,
                                                  Pool* pool) const = 0;
  /// The term of the hyperparameters in the objective: −KL(q(H) ‖ p(H)), or the log density of their present
  /// values. 0 if that density is constant.
  virtual double log_hyperprior() const { return 0; }
  /// The term of the objective that a cluster with observations has beside its log evidence. 0 for an empty
  /// cluster, which says nothing about the prior. t: the statistic of the cluster.
  virtual double occupied_term(const double* /*t*/) const { return 0; }
  virtual bool has_occupied_term() const { return false; }  // can occupied_term() differ from 0?
  /// The present values of the fields that learned() changes, under the names that they have in R.
  virtual NamedArrays learned_fields() const = 0;

 protected:
  ~LearnedPrior() = default;
};

/// Models whose features depend on the centre and unit to which the columns are scaled.
class ColumnUnits {
 public:
  /// Converts the statistic t of some rows to this model, in place. `from` is the model to which t belongs:
  /// this model with another prior, centre and unit.
  virtual void re_express(const ObsModel& from, double* t) const = 0;
  /// By how much the prior alone reduces precision. It is the factor ≥ 1 by which second moments around 0
  /// exceed the variances, which are computed by subtracting squared means. The relative error of the log
  /// evidence Λ of a cluster is about this factor times machine epsilon.
  virtual double strain() const = 0;

 protected:
  ~ColumnUnits() = default;
};

/// A faster point_estimate() for clusters of a single row, in models where one row changes only a small part
/// of the prior's parameters.
class RowEstimates {
 public:
  /// Computes point_estimate() for the statistic times × φ: one row with features φ that counts `times`
  /// times. The result is the same up to rounding. Equal rows give the same bits.
  virtual void row_estimate(const double* phi, double times, double* mean, double* w) const = 0;

 protected:
  ~RowEstimates() = default;
};

/// Clusters as samplers use them, from which single rows are taken and to which they return. An urn is one
/// cluster: an array of its statistic T (p numbers), followed by numbers that follow from T and that
/// predictive densities would otherwise compute again for every row. It has no pointers, so that copying the
/// numbers copies the urn.
class Urn {
 public:
  virtual Index urn_size() const = 0;  // ≥ p
  /// Computes the numbers that follow the statistic T in an urn from T.
  virtual void fill_urn(double* urn) const = 0;
  /// Updates the numbers that follow T in an urn after T became T + sign φ. φ: the features of a row that was
  /// added (sign 1) or taken out (−1).
  virtual void refill_urn(double* urn, const double* /*phi*/, double /*sign*/) const { fill_urn(urn); }
  /// Computes the log predictive density (ObsModel::log_predictive) of one row with φ_0 = 1 under each of K
  /// urns. The urns are stored one after the other (K × urn_size()).
  virtual void urn_predictives(const double* urns, Index k, const double* phi, double* out) const = 0;

 protected:
  ~Urn() = default;
};

/// Models whose clusters change over time. They can replace what the earliest times say about a cluster by a
/// summary.
class ForgetsTimes {
 public:
  /// Drops the first `gone` times of a cluster: returns a statistic for the model of the times from the last
  /// of the dropped ones on. The statistic carries all that the dropped times imply for later times. The log
  /// evidence Λ of any further rows changes by a constant only, which is added to `constant`.
  virtual Vec condensed(const double* t, Index gone, double& constant) const = 0;
  /// The strength of the prior of the mean at this time (from 0), given the earlier times, in a cluster
  /// without rows.
  virtual double strength_at(Index time) const = 0;

 protected:
  ~ForgetsTimes() = default;
};

/// The optional abilities of an observation model. A pointer is null where the model lacks the ability;
/// pointers are valid as long as the model exists. Call ObsModel::capabilities() once, outside loops.
struct Capabilities {
  Index lag = 0;        // rows at the start of each group that are only conditioned on, without a likelihood
  bool linear = false;  // φ(x) = (1, x): sparse rows are multiplied directly, without features()
  /// True when features() scales rows that are very far from all others towards 0 (obs_model.h).
  /// log_predictive() then corrects for that.
  bool far_rows = false;
  /// True if features of rows differ by so many orders of magnitude that sums must not be updated by
  /// subtraction: the rounding error left after a row is subtracted may exceed the rest. Totals are then
  /// added up again from their parts.
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

// For callers that need not know whether a model has an ability. Each function returns the ability of the
// model or, if it has none, the default that the comment beside the function names.

const LearnedPrior& prior_of(const ObsModel& obs);  // default: a prior that is not learned
const ColumnUnits& units_of(const ObsModel& obs);   // default: T stays the same, strain 1
const BaseMeasure& base_of(const ObsModel& obs);    // default: h = 1
/// The log evidence of a cluster with statistic t plus, if it has observations, the occupied term of a
/// learned prior (LearnedPrior). For sums over clusters and comparisons of such sums; not for predictives,
/// urns and draws.
double used_evidence(const ObsModel& obs, const double* t);
Index n_dense(const ObsModel& obs);                      // default: all features
Index n_cells(const ObsModel& obs);                      // default: 0
bool hides_scales(const ObsModel& obs);                  // ExpectedCells::all_rows(); default: false
std::shared_ptr<const Urn> urn_of(const ObsModel& obs);  // default: T alone, with log_predictive()
std::shared_ptr<const RowEstimates> row_estimates_of(const ObsModel& obs);  // default: PlainRowEstimates

/// The default for models without faster row estimates: calls point_estimate() with the statistic times × φ,
/// where φ are the features of the row.
class PlainRowEstimates final : public RowEstimates {
 public:
  explicit PlainRowEstimates(const ObsModel& obs) : obs_(obs) {}
  void row_estimate(const double* phi, double times, double* mean, double* w) const override;

 private:
  const ObsModel& obs_;
};

/// Converts the statistic t of rows without missing cells (gaps) from the model `from` to the model `to`. The
/// two models may differ only in whether cells may be missing: they may in `to` but not in `from`. In a
/// product this may concern some blocks only.
void complete_to_gaps(const ObsModel& from, const double* t, const ObsModel& to, double* out);

/// Casts `obs` to the type Model, for functions of a model that receive another model made from the same
/// fields.
template <class Model>
const Model& same_kind(const ObsModel& obs) {
  return dynamic_cast<const Model&>(obs);
}
template <class Model>
std::shared_ptr<const Model> same_kind(const std::shared_ptr<const ObsModel>& obs) {
  return {obs, &same_kind<Model>(*obs)};
}

/// Sorts rows: first complete rows, then rows that lack the same cells next to each other. The order within
/// these groups is kept. A block of rows then has few patterns of missing cells, and its cost depends on
/// their number.
void sort_by_missing_cells(const ObsModel& obs, const Dataset& data, std::vector<Index>& rows);

/// The sum of w log h(x) over the given rows. w: weight of a row; h: base measure. The result does not depend
/// on the pool.
double sum_log_base(const ObsModel& obs, const Dataset& data, const std::vector<Index>& rows, Pool* pool);

}  // namespace bnpvi
