// The contract of an observation model: what a cluster produces.
#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "foundation/data.h"
#include "foundation/named_array.h"
#include "foundation/pool.h"
#include "foundation/random.h"
#include "foundation/types.h"
#include "observations/missing_pattern.h"

namespace bnpvi {

/// Which of the features after the dense ones n rows have: those of row i are at[start[i]] .. at[start[i + 1]
/// − 1], with their values.
struct Entries {
  std::vector<int> start;
  std::vector<int> at;        // counted from the first feature that is not dense
  std::vector<double> value;  // empty: all are indicators, 1
};

/// A likelihood from a conjugate exponential family with its prior.
///
/// Everything is written in terms of a feature vector φ(x) of length p with φ_0 = 1 and a cluster's
/// statistic T = Σ_n r_n φ(x_n), so that T_0 = N. Let Λ(T) be the log evidence of one cluster whose data
/// have statistic T. Then, with q(φ_k) the conjugate posterior given T,
///   E_q log p(x | φ_k) = ⟨φ(x), ∇Λ(T)⟩     and     log p(x | data) = Λ(T + φ(x)) − Λ(T),
/// so that a model is one scalar function, its gradient and its features. Models are immutable.
///
/// Where squares of a row would overflow, features() gives φ(x)/ρ² with φ_0 = 1/ρ² (bring_near in gather.h):
/// the order of ⟨φ(x), w_k⟩, and with it every responsibility, is then that of the limit far out, and
/// log_predictive() knows the row from φ_0. Such rows are only asked about, never learned from.
///
/// A factor h(x) of the likelihood that has no parameters, and whose logarithm is not linear in φ(x), is left
/// out of Λ, of the weights and of the predictive; log_base() gives log h(x). Σ_n log h(x_n) is added once to
/// every ELBO, since it is the same for all assignments.
///
/// Laws (tests/testthat/test-contract.R, run for every registered model): Λ(0) = 0; weights = ∇Λ by
/// finite differences; Λ(T) + Σ r log h(x) = the closed-form evidence; zero-weight rows change nothing.
class ObsModel {
 public:
  virtual ~ObsModel() = default;

  virtual Index n_features() const = 0;  // p
  virtual Index n_columns() const = 0;   // D, of the data

  /// Number of rows of each group that are conditioned on and have no likelihood of their own.
  virtual Index lag() const { return 0; }

  /// True when φ(x) = (1, x). Sparse rows are then multiplied as they are, without a call of features().
  virtual bool linear() const { return false; }

  /// Φ, n × p with rows `ld` apart: features of the given rows.
  virtual void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const = 0;

  /// Features 0 .. n_dense() − 1 may be any numbers. Of those after them few of a row are not 0, so that
  /// products with clusters add up the weights of these only: indicators, which are 1, or what belongs to one
  /// of many times. All are dense by default.
  virtual Index n_dense() const { return n_features(); }

  /// The dense features alone, as features() writes them.
  virtual void dense_features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const {
    features(data, rows, n, phi, ld);
  }

  /// Which features of the given rows that are not dense are not 0; called only where there are such
  /// features.
  virtual void entries(const Dataset& /*data*/, const Index* /*rows*/, Index /*n*/, Entries& /*out*/) const {}

  /// Number of cells of a row that are expected given the others where they are missing; 0 for models of
  /// complete rows and for those that leave missing cells out.
  virtual Index n_cells() const { return 0; }

  /// The rows that lack any of these cells. Their dense features are zero throughout; pattern() has what
  /// enters instead. Called only where there are such cells, as is pattern().
  virtual std::vector<IncompleteRows> incomplete_rows(const Dataset& /*data*/, const Index* /*rows*/,
                                                      Index /*n*/) const {
    return {};
  }
  virtual std::unique_ptr<const MissingPattern> pattern(const MissingCells& missing) const;

  /// True when features() brings rows near that are far out, as said above, and log_predictive() knows them.
  virtual bool knows_far_rows() const { return false; }

  /// False when h = 1 for all rows; log_base() then returns zeros.
  virtual bool has_base() const { return false; }

  /// log h(x) of the given rows, n numbers.
  virtual void log_base(const Dataset& data, const Index* rows, Index n, double* out) const;

  /// True when a row is a multiset of tokens, φ(x) = (1, counts), and Λ does not depend on T_0, so that the
  /// tokens of one row may belong to different clusters.
  virtual bool tokens() const { return false; }

  /// λ (D numbers) of models of counts in which the point estimate of a single row x of n tokens is n (λ + x)
  /// / Σ (λ + x), with the logarithm of the proportions as weights: divergences between rows then need their
  /// nonzero counts only. nullptr for all other models.
  virtual const Vec* pseudo_counts() const { return nullptr; }

  /// One step of empirical Bayes: the same model with a prior under which Σ_k Λ(T_k) + log_hyperprior(), for
  /// K clusters with statistics T (K × p), is at least as large but for rounding. nullptr when the prior is
  /// fixed, or for clusters so few that what they have in common cannot be estimated.
  virtual std::shared_ptr<const ObsModel> learned(const double* /*t*/, Index /*k*/, Pool* /*pool*/) const {
    return nullptr;
  }

  /// Log density of the present values of a prior that is learned, a term of the ELBO; 0 (the default) where
  /// the prior is fixed, or has the same density everywhere.
  virtual double log_hyperprior() const { return 0; }

  /// Present values of the fields that learned() changes, by their names in the R list; empty when the prior
  /// is fixed.
  virtual NamedArrays learned_fields() const { return {}; }

  /// Turns a cluster's T under `from`, this model with other values of prior, centre and unit, into the T of
  /// the same rows under this model. Features that do not depend on these (the default) leave T as it is.
  virtual void re_express(const ObsModel& /*from*/, double* /*t*/) const {}

  /// Of a model whose rows may have gaps (missing cells): T of rows without gaps, from their T under the same
  /// model without gaps, which is the default.
  virtual void from_complete(const double* complete_t, double* t) const {
    std::copy_n(complete_t, n_features(), t);
  }

  /// Loss of precision that the prior alone causes: the factor ≥ 1 by which second moments of the prior
  /// exceed the variances that remain when squared means are subtracted from them. Every cluster's Λ has a
  /// relative error of about this factor times machine epsilon.
  virtual double strain() const { return 1; }

  /// Λ(T).
  virtual double log_evidence(const double* t) const = 0;

  /// w = ∇Λ(T), length p.
  virtual void weights(const double* t, double* w) const = 0;

  /// Fills w = ∇Λ(T) and returns Λ(T). The default makes the two calls; models override it where they share
  /// work.
  virtual double evidence_and_weights(const double* t, double* w) const;

  /// The prior-smoothed mean statistic s̃ of a cluster (s̃_0 = 1), a point of the mean-parameter space
  /// [Hughes 2016, Alg. 2.2], and the natural weights w of the likelihood there: log p(x | mean s̃) =
  /// ⟨φ(x), w⟩. The Bregman divergence between clusters a and b is ⟨s̃_a, w_a − w_b⟩ ≥ 0.
  virtual void point_estimate(const double* t, double* mean, double* w) const = 0;

  /// point_estimate() of one row that counts `times` times, T = times × φ, but for rounding; equal rows have
  /// the same bits. The default makes that T; models override it where one row changes little in the prior.
  virtual void row_estimate(const double* phi, double times, double* mean, double* w) const;

  /// w (p): natural weights of the likelihood at parameters drawn from their posterior given T, log p(x |
  /// parameters) − log h(x) = ⟨φ(x), w⟩. Their mean is ∇Λ(T), and the mean of exp⟨φ(x), w⟩ the predictive.
  virtual void draw(const double* t, Stream& stream, double* w) const = 0;

  /// log p(x | data with statistic T) − log h(x) for rows with features phi (n × p); of rows with φ_0 = 0,
  /// which lack cells, only the part of the entries. The default is the definition, Λ(T + φ) − Λ(T);
  /// models override it where a closed form is cheaper.
  virtual void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const;

  /// An urn is one cluster from which single rows are taken and to which they return, as samplers do: T (p
  /// numbers), and after it what predictives would otherwise derive from T for every row. Plain numbers, so
  /// that urns are copied as such.
  virtual Index urn_size() const { return n_features(); }
  /// Makes the rest of an urn anew from its T.
  virtual void fill_urn(double* /*urn*/) const {}
  /// T += φ, and T −= φ of a row that is in the urn; the rest is made anew, unless models know better.
  virtual void add_to_urn(double* urn, const double* phi) const;
  virtual void remove_from_urn(double* urn, const double* phi) const;
  /// log_predictive() of one row with φ_0 = 1 under each of K urns, which lie one after the other (K ×
  /// urn_size()).
  virtual void urn_predictives(const double* urns, Index k, const double* phi, double* out) const;

  /// Variational parameters of K clusters with statistics T (K × p), in the units of the user's data.
  virtual NamedArrays posterior(const double* t, Index k) const = 0;

  /// Posterior means of the parameters as users know them: mean, cov, prob, rate, ...
  virtual NamedArrays mean_parameters(const double* t, Index k) const = 0;

 protected:
  void add_features(double* t, const double* phi, double sign) const;  // T += sign φ
};

/// Puts complete rows first, then those that lack the same cells together; each as they came. A block of rows
/// then has few patterns, which is what it takes time for.
void sort_by_missing_cells(const ObsModel& obs, const Dataset& data, std::vector<Index>& rows);

/// Number of clusters with observations, of K with statistics T (K × p).
Index occupied_clusters(const double* t, Index k, Index p);

/// Σ w log h(x) over the given rows; the same for any pool.
double sum_log_base(const ObsModel& obs, const Dataset& data, const std::vector<Index>& rows, Pool* pool);

}  // namespace bnpvi
