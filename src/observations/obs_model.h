// The interface of observation models. An observation model is the distribution of a row given its cluster.
#pragma once
#include "foundation/data.h"
#include "foundation/named_array.h"
#include "foundation/random.h"
#include "foundation/types.h"

namespace bnpvi {

struct Capabilities;  // see capabilities.h

/// A likelihood from a conjugate exponential family with its prior.
///
/// A row x has features φ(x), p numbers with φ_0 = 1. A cluster has the statistic T = Σ_n r_n φ(x_n), a sum
/// over rows with responsibilities r; so T_0 is its number of rows N. Let Λ(T) be the log evidence of a
/// cluster with statistic T, and q(φ_k) the conjugate posterior of its parameters. Then
///   E_q log p(x | φ_k) = ⟨φ(x), ∇Λ(T)⟩     and     log p(x | data) = Λ(T + φ(x)) − Λ(T),
/// So a model is one scalar function, its gradient and its features. Models are immutable.
///
/// If squares of a row would overflow, features() writes φ(x)/ρ² with φ_0 = 1/ρ² (bring_near in gather.h).
/// Then the order of ⟨φ(x), w_k⟩ over the clusters, and so every responsibility, is the limit for rows far
/// away. log_predictive() recognises such a row by its φ_0. Such rows can be predicted, but are never part of
/// a fit.
///
/// h(x) is a factor of the likelihood that has no parameters and whose logarithm is not linear in φ(x). It is
/// left out of Λ, weights and predictive densities; BaseMeasure computes log h(x). Σ_n log h(x_n) is added
/// once to every ELBO, as it is the same for all assignments of rows to clusters.
///
/// Laws (tests/testthat/test-contract.R, run for every registered model): Λ(0) = 0; weights = ∇Λ by finite
/// differences; Λ(T) + Σ r log h(x) = the closed-form evidence; zero-weight rows change nothing.
class ObsModel {
 public:
  virtual ~ObsModel() = default;

  virtual Index n_features() const = 0;  // p, length of φ
  virtual Index n_columns() const = 0;   // D, number of columns of the data

  /// Writes the features of n rows of the data to phi: n × p, its rows `ld` numbers apart.
  virtual void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const = 0;

  /// Λ(T), the log evidence of a cluster whose data have statistic t = T.
  virtual double log_evidence(const double* t) const = 0;

  /// Writes the weights of a cluster with statistic t to w (p numbers). They are the gradient ∇Λ of its log
  /// evidence.
  virtual void weights(const double* t, double* w) const = 0;

  /// Writes the weights of a cluster with statistic t to w, the gradient of its log evidence, and returns the
  /// log evidence. The default calls weights() and log_evidence(); models override this function where the
  /// two can share work.
  virtual double evidence_and_weights(const double* t, double* w) const;

  /// Point estimate of the parameters of a cluster with statistic T [Hughes 2016, Alg. 2.2]. Writes to `mean`
  /// s̃, the mean features of the cluster's rows, smoothed by the prior (s̃_0 = 1), and to w the natural
  /// weights of the likelihood at the parameters with this mean: log p(x | mean s̃) = ⟨φ(x), w⟩. The Bregman
  /// divergence between clusters a and b is ⟨s̃_a, w_a − w_b⟩ ≥ 0.
  virtual void point_estimate(const double* t, double* mean, double* w) const = 0;

  /// Draws the parameters of a cluster with statistic t from their posterior. Writes the natural weights of
  /// the likelihood at these parameters to w (p numbers): log p(x | parameters) − log h(x) = ⟨φ(x), w⟩, with
  /// features φ and base measure h. Averaged over draws, w is the gradient of the log evidence, and exp⟨φ(x),
  /// w⟩ is the predictive density.
  virtual void draw(const double* t, Stream& stream, double* w) const = 0;

  /// Writes log p(x | data with statistic T) − log h(x) for n rows with features phi (n × p), with h the base
  /// measure. Incomplete rows, whose dense features are all 0 (also the first one), get only the part of
  /// their sparse entries. The default computes the difference of log evidences Λ(T + φ) − Λ(T); models
  /// override it where a closed form is cheaper.
  virtual void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const;

  /// Parameters of the variational posterior of K clusters with statistics T (K × p), in the units of the
  /// user's data.
  virtual NamedArrays posterior(const double* t, Index k) const = 0;

  /// Posterior means of the parameters under the names that users know: mean, cov, prob, rate, ...
  virtual NamedArrays mean_parameters(const double* t, Index k) const = 0;

  /// The optional abilities of this model, as pointers to interfaces; by default none.
  virtual Capabilities capabilities() const;
};

/// Number of clusters with observations among K clusters with statistics T (K × p).
Index occupied_clusters(const double* t, Index k, Index p);

}  // namespace bnpvi
