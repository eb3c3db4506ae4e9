// What some observation models have beside the core (obs_model.h): small interfaces, handed out by pointer.
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

/// Which of the features after the dense ones n rows have: those of row i are at[start[i]] .. at[start[i + 1]
/// − 1], with their values.
struct Entries {
  std::vector<int> start;
  std::vector<int> at;        // counted from the first feature that is not dense
  std::vector<double> value;  // empty: all are indicators, 1
};

/// Features of which few of a row are not 0.
class SparseEntries {
 public:
  /// Features 0 .. n_dense() − 1 may be any numbers. Of those after them few of a row are not 0, so that
  /// products with clusters add up the weights of these only: indicators, which are 1, or what belongs to one
  /// of many times.
  virtual Index n_dense() const = 0;
  /// The dense features alone, as features() writes them.
  virtual void dense_features(const Dataset& data, const Index* rows, Index n, double* phi,
                              Index ld) const = 0;
  /// Which features of the given rows that are not dense are not 0.
  virtual void entries(const Dataset& data, const Index* rows, Index n, Entries& out) const = 0;

 protected:
  ~SparseEntries() = default;
};

/// Cells that depend on the others of their row, and are expected given these where they are missing; or
/// scales of rows, which are never seen.
class ExpectedCells {
 public:
  virtual Index n_cells() const = 0;  // of a row, above 0
  /// The rows that lack any of these cells. Their dense features are zero throughout; pattern() has what
  /// enters instead.
  virtual std::vector<IncompleteRows> incomplete_rows(const Dataset& data, const Index* rows,
                                                      Index n) const = 0;
  virtual std::unique_ptr<const MissingPattern> pattern(const MissingCells& missing) const = 0;
  /// Has every row something hidden? Those that lack no cell, too, are then among the incomplete ones.
  virtual bool all_rows() const { return false; }

 protected:
  ~ExpectedCells() = default;
};

/// Rows that may have gaps (missing cells).
class Gaps {
 public:
  /// T of rows without gaps, from their T under `complete`: the same model without gaps.
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

/// Rows that are multisets of tokens, φ(x) = (1, counts). Λ does not depend on T_0, so that the tokens of one
/// row may belong to different clusters.
class TokenCounts {
 public:
  /// λ (D numbers): the point estimate of a single row x of n tokens is n (λ + x) / Σ (λ + x), with the
  /// logarithm of the proportions as weights, so that divergences between rows need their nonzero counts
  /// only.
  virtual const Vec& pseudo_counts() const = 0;

 protected:
  ~TokenCounts() = default;
};

/// How far a prior is learned: continuous hyperparameters, by some steps of ascent, or also those that are
/// points of a grid, by steps to their neighbours, which costs some ten times as much.
enum class PriorSteps { ascent, search };

/// A prior of clusters that is learned from them. What was learned is part of the model: learning gives
/// another model.
///
/// The objective has, beside the evidence Λ(T_k) of each cluster, occupied_term(T_k) and, once,
/// log_hyperprior(). Of a prior whose hyperparameters have posteriors q(H) these are what makes the sum a
/// lower bound of the evidence in the model of all clusters and hyperparameters; of one whose best values are
/// taken there is the density of these alone.
class LearnedPrior {
 public:
  /// The same model with a prior under which this objective, for K clusters with statistics T (K × p), is at
  /// least as large but for rounding. nullptr where nothing better is found, or for clusters so few that what
  /// they have in common cannot be estimated.
  virtual std::shared_ptr<const ObsModel> learned(const double* t, Index k, PriorSteps steps,
                                                  Pool* pool) const = 0;
  /// −KL(q(H) ‖ p(H)), or the log density of the prior's present values; 0 where it is the same everywhere.
  virtual double log_hyperprior() const { return 0; }
  /// Of a cluster with observations; 0 of an empty one, which says nothing of the prior.
  virtual double occupied_term(const double* /*t*/) const { return 0; }
  virtual bool has_occupied_term() const { return false; }  // of any cluster
  /// Present values of the fields that learned() changes, by their names in the R list.
  virtual NamedArrays learned_fields() const = 0;

 protected:
  ~LearnedPrior() = default;
};

/// Features that depend on the centre and unit of the columns.
class ColumnUnits {
 public:
  /// Turns a cluster's T under `from`, this model with other values of prior, centre and unit, into the T of
  /// the same rows under this model.
  virtual void re_express(const ObsModel& from, double* t) const = 0;
  /// Loss of precision that the prior alone causes: the factor ≥ 1 by which second moments of the prior
  /// exceed the variances that remain when squared means are subtracted from them. Every cluster's Λ has a
  /// relative error of about this factor times machine epsilon.
  virtual double strain() const = 0;

 protected:
  ~ColumnUnits() = default;
};

/// Point estimates from single rows, where one row changes little in the prior.
class RowEstimates {
 public:
  /// point_estimate() of one row that counts `times` times, T = times × φ, but for rounding; equal rows have
  /// the same bits.
  virtual void row_estimate(const double* phi, double times, double* mean, double* w) const = 0;

 protected:
  ~RowEstimates() = default;
};

/// An urn is one cluster from which single rows are taken and to which they return, as samplers do: T (p
/// numbers), and after it what predictives would otherwise derive from T for every row. Plain numbers, so
/// that urns are copied as such.
class Urn {
 public:
  virtual Index urn_size() const = 0;  // ≥ p
  /// Makes the rest of an urn anew from its T.
  virtual void fill_urn(double* urn) const = 0;
  /// Completes an urn whose T has become T + sign φ, sign 1 or −1, of a row that came or left.
  virtual void refill_urn(double* urn, const double* /*phi*/, double /*sign*/) const { fill_urn(urn); }
  /// log_predictive() of one row with φ_0 = 1 under each of K urns, which lie one after the other (K ×
  /// urn_size()).
  virtual void urn_predictives(const double* urns, Index k, const double* phi, double* out) const = 0;

 protected:
  ~Urn() = default;
};

/// Clusters that change over time, and can give up their first times for what these say of later ones.
class ForgetsTimes {
 public:
  /// What a cluster says of times to come once its first `gone` ones are given up: its statistic under the
  /// model of the times from the last of these on. Λ of any further rows is what it was, but for a constant,
  /// which is added to `constant`.
  virtual Vec condensed(const double* t, Index gone, double& constant) const = 0;
  /// Strength of the mean of a cluster without rows at a time, given the times before; 0: the first time.
  virtual double strength_at(Index time) const = 0;

 protected:
  ~ForgetsTimes() = default;
};

/// What a model has beside the core. Pointers are null where it does not have that; they live as long as the
/// model. Ask once, outside loops.
struct Capabilities {
  Index lag = 0;        // rows of each group that are conditioned on and have no likelihood of their own
  bool linear = false;  // φ(x) = (1, x): sparse rows are multiplied as they are, without features()
  /// features() brings rows near that are far out (obs_model.h), and log_predictive() knows them.
  bool far_rows = false;
  /// Features of rows differ by so many orders of magnitude that what a row leaves behind in a sum from which
  /// it was subtracted may be more than all that stay: totals are made anew from their parts.
  bool wide_sums = false;

  const SparseEntries* entries = nullptr;
  const ExpectedCells* cells = nullptr;
  const HiddenScales* scales = nullptr;  // hidden_scales.h
  const Gaps* gaps = nullptr;
  const BaseMeasure* base = nullptr;
  const TokenCounts* tokens = nullptr;
  const LearnedPrior* prior = nullptr;
  const ColumnUnits* units = nullptr;
  const RowEstimates* row_estimates = nullptr;
  const Urn* urn = nullptr;
  const ForgetsTimes* times = nullptr;
  const NamedClusters* names = nullptr;       // named_clusters.h
  const RepeatedRows* individuals = nullptr;  // rows are sums over the rows of individuals
};

// For callers that need not know whether a model has something: its own, or what stands for none.

const LearnedPrior& prior_of(const ObsModel& obs);  // never learned
const ColumnUnits& units_of(const ObsModel& obs);   // T stays as it is, no strain
const BaseMeasure& base_of(const ObsModel& obs);    // h = 1
/// Λ(T) and, of a cluster with observations, what a learned prior adds to it: what sums over clusters, and
/// comparisons of sums, are made of. Not for predictives, urns and draws.
double used_evidence(const ObsModel& obs, const double* t);
Index n_dense(const ObsModel& obs);                      // all features
Index n_cells(const ObsModel& obs);                      // 0
bool hides_scales(const ObsModel& obs);                  // ExpectedCells::all_rows(): false
std::shared_ptr<const Urn> urn_of(const ObsModel& obs);  // T alone, and log_predictive()
std::shared_ptr<const RowEstimates> row_estimates_of(const ObsModel& obs);  // PlainRowEstimates

/// Row estimates of any model: point_estimate() of T = times × φ.
class PlainRowEstimates final : public RowEstimates {
 public:
  explicit PlainRowEstimates(const ObsModel& obs) : obs_(obs) {}
  void row_estimate(const double* phi, double times, double* mean, double* w) const override;

 private:
  const ObsModel& obs_;
};

/// T under `to` of rows without gaps, from their T under `from`: the same model, which of a product has gaps
/// in fewer blocks or none, and else has none unless `to` is `from`.
void complete_to_gaps(const ObsModel& from, const double* t, const ObsModel& to, double* out);

/// A model that is one of this kind, because another of this kind was made from the same fields.
template <class Model>
const Model& same_kind(const ObsModel& obs) {
  return dynamic_cast<const Model&>(obs);
}
template <class Model>
std::shared_ptr<const Model> same_kind(const std::shared_ptr<const ObsModel>& obs) {
  return {obs, &same_kind<Model>(*obs)};
}

/// Puts complete rows first, then those that lack the same cells together; each as they came. A block of rows
/// then has few patterns, which is what it takes time for.
void sort_by_missing_cells(const ObsModel& obs, const Dataset& data, std::vector<Index>& rows);

/// Σ w log h(x) over the given rows; the same for any pool.
double sum_log_base(const ObsModel& obs, const Dataset& data, const std::vector<Index>& rows, Pool* pool);

}  // namespace bnpvi
