// Mixtures: given the weights π of the clusters, rows are independent, and row n belongs to cluster z_n ~ π.
#pragma once
#include <cmath>
#include <memory>

#include "foundation/gamma_prior.h"
#include "inference/learn/alloc_capabilities.h"
#include "mixtures/candidates.h"
#include "tilt/tilt.h"

namespace bnpvi::mixtures {

/// Makes a mixture with a Pitman–Yor process prior: sticks u_k ~ Beta(1 − d, γ + kd) with concentration γ >
/// −d and discount 0 ≤ d < 1 [Pitman & Yor 1997]. d = 0 is the Dirichlet process [Hughes 2016, §3.2].
std::unique_ptr<AllocModel> make_pitman_yor(double concentration, double discount, const Sparsity& sparsity);

/// Makes a mixture with a Pitman–Yor process prior whose concentration γ > 0 is integrated over its own prior
/// (ConcentrationPosterior).
std::unique_ptr<AllocModel> make_pitman_yor(const GammaPrior& concentration, double discount,
                                            const Sparsity& sparsity);

/// Makes a finite mixture with weights π ~ Dirichlet(γ/K, ..., γ/K), where γ is the concentration.
std::unique_ptr<AllocModel> make_dirichlet(Index k, double concentration, const Sparsity& sparsity);

/// Makes a mixture whose weights depend on covariates (tilt.h). fixed_k: K if the prior is finite, else 0.
std::unique_ptr<AllocModel> make_tilted(TiltPrior prior, Index fixed_k, const Sparsity& sparsity);

/// Base class of all mixtures. In its local step (update of q(z)) the responsibilities of row n are
/// proportional to exp W_nk, with the log weights
///   W_nk = E log p(x_n | φ_k) + E log π_k,
/// where E log π_k may depend on the covariate pattern of the row.
///
/// Counts and log weights of K clusters are matrices K × (1 + C), row-major, where C is the number of
/// covariate patterns of rows (0: none). Counts: the size of each cluster, and the number of its rows with
/// each pattern. Log weights: a constant for each cluster, and what each pattern adds to it.
class MixtureAlloc : public AllocModel, public WorkReader {
 public:
  /// fixed_k: K, the number of clusters, or 0 if it varies (sticks). patterns: C, the number of covariate
  /// patterns (combinations of values) of rows. stored: AllocFacts::weight_values.
  MixtureAlloc(Index fixed_k, const Sparsity& sparsity, Index patterns = 0, Index stored = 0)
      : AllocModel({false, fixed_k == 0, fixed_k, false, 0, patterns, stored}, sparsity) {}
  SummaryShape shape(const ObsModel& obs) const override;
  Summary local_step(const Visit& in) const override;
  std::unique_ptr<Visitor> visitor() const override;
  Summary summarise(const Visit& in, const GivenResponsibilities& resp) const override;
  Globals global_step(const Summary& total, const Globals& from) const override;

  Globals stochastic_step(const Globals& from, const Summary& noisy, double rate) const override;
  std::vector<MoveKind> moves() const override;
  AllocCapabilities capabilities() const override {
    AllocCapabilities out;
    out.work = this;
    return out;
  }
  std::unique_ptr<Watch> read_watch(const std::string& kind, Reader& in) const override;
  std::unique_ptr<BatchWork> read_work(const std::string& kind, Index batch,
                                       std::shared_ptr<const WorkGlobals> at, Reader& in) const override;

  /// The log weights E log π of the clusters, K × (1 + C), given the counts of their rows. near: null for a
  /// full search of the parameters of π. Proposals need only a short search, since their bound is computed
  /// elsewhere. They pass the start of the search in `near` (parameters like Globals::u), and get its end
  /// there.
  virtual Vec expected_log_weights(const Vec& counts, Vec* near = nullptr) const = 0;
  /// The log weights E log π of the clusters, K × (1 + C), given these global parameters.
  virtual Vec log_weights(const Globals& globals) const {
    return expected_log_weights(counts(globals.effective));
  }

  /// Where a search for the parameters of π begins after cluster b has joined cluster a < b, which keeps its
  /// place, given its end before (`near`, as in expected_log_weights()). If the number of clusters is fixed,
  /// b stays as an empty cluster.
  virtual Vec joined_search(const Vec& near, Index a, Index b) const;
  /// Where a search begins if the clusters come in another order.
  virtual Vec search_in_order(const Vec& near, const std::vector<Index>& order) const;

  Index count_width() const { return 1 + patterns(); }
  Vec counts(const Summary& s) const;
  void append_counts(const double* t, Index p, Vec& counts) const;  // counts of a cluster with statistic t

 private:
  class NearVisitor;
  // With how many of the clusters nearest to its best one a row is compared, if there are k clusters; 0: with
  // all clusters.
  Index count_neighbours(Index k) const;
  // Updates q(z) of the units of a batch. near: the clusters nearest to each cluster. Rows that were visited
  // before are compared only with those nearest to their best cluster. Null: with all clusters.
  Summary step(const Visit& in, const Neighbours* near) const;
  // Updates q(z) like step(), for rows whose clusters at the last visit are stored in `last`. Each row is
  // compared with a few candidates only, which are found from these clusters.
  Summary visit_again(const Visit& in, const Neighbours& near, const UnitMemory& last,
                      const Vec& log_pi) const;
};

/// The parameters of q(u_k | γ) = Beta(1 − d + N_k, γ + kd + N_>k) of the stick-breaking fraction u_k of each
/// cluster, K × 2, as an array "sticks". counts: N_k in the order of the sticks; N_>k is the sum of the
/// counts after cluster k.
NamedArray sticks_array(double concentration, double discount, const Vec& counts);

/// The part of the allocation model in the ELBO, without the entropy of q(z), at the best π for these
/// expected counts. near: see expected_log_weights(); if empty, the search is a full one. least: a value
/// that has to be surpassed to matter; where the search would begin too far below, there is none, and the
/// value is that of its beginning.
double allocation_value(const MixtureAlloc& alloc, const Vec& counts, Vec* near = nullptr,
                        double least = -HUGE_VAL);

/// Copies of a row-major matrix with K rows and any number of columns. without_row() removes one row;
/// rows_in_order() reorders the rows.
Vec without_row(Vec values, Index k, Index row);
Vec rows_in_order(const Vec& values, const std::vector<Index>& order);

/// The counts after cluster b has joined cluster a < b. If the number of clusters is fixed, b stays as an
/// empty cluster.
Vec joined_counts(const MixtureAlloc& alloc, Vec counts, Index a, Index b);

/// Adds the log weights E log π of K clusters (K × (1 + C), MixtureAlloc) to the weights by which features
/// are multiplied. The features of covariate patterns are the last ones. Must be called before the weights
/// are packed.
void add_log_weights(Weights& weights, const Vec& log_weights);
/// Adds to the weights by which features are multiplied only the part of E log π that covariate patterns add.
/// The constants of the clusters (log_constants()) remain to be added.
void add_pattern_weights(Weights& weights, const Vec& log_weights);
Vec log_constants(const Vec& log_weights, Index k);

}  // namespace bnpvi::mixtures
