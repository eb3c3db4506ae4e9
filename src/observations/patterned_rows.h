// A model of rows that have a covariate pattern (a combination of covariate values) beside their observed
// columns.
#pragma once
#include <memory>

#include "observations/capabilities.h"

namespace bnpvi {

/// Rows x whose probabilities of clusters depend on covariates. Each row has one of C covariate patterns,
/// given by Dataset::position. Its features are φ', those of the model of rows inside, and C indicators:
///   φ = (φ', 1[c = 1], ..., 1[c = C]),   Λ(T) = Λ'(T').
/// So the last C numbers of a cluster's statistic T count its rows by pattern, and stay correct when
/// statistics are added or moved. Only the allocation model (the prior of the cluster probabilities) uses
/// these counts. The log evidence Λ does not depend on them. weights() gives 0 for these features; there the
/// allocation model writes weights of its own.
class PatternedRows final : public ObsModel,
                            public SparseEntries,
                            public Gaps,
                            public ColumnUnits,
                            public LearnedPrior,
                            public RowEstimates {
 public:
  PatternedRows(std::shared_ptr<const ObsModel> of_rows, Index patterns);

  Index n_features() const override { return own_p_ + patterns_; }
  Index n_columns() const override { return of_rows_->n_columns(); }
  Capabilities capabilities() const override;

  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override;
  Index n_dense() const override { return dense_; }
  void dense_features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override;
  void entries(const Dataset& data, const Index* rows, Index n, Entries& out) const override;

  double log_evidence(const double* t) const override { return of_rows_->log_evidence(t); }
  void weights(const double* t, double* w) const override;
  double evidence_and_weights(const double* t, double* w) const override;
  void point_estimate(const double* t, double* mean, double* w) const override;
  void row_estimate(const double* phi, double times, double* mean, double* w) const override;
  void draw(const double* t, Stream& stream, double* w) const override;
  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override;
  NamedArrays posterior(const double* t, Index k) const override;
  NamedArrays mean_parameters(const double* t, Index k) const override;

  std::shared_ptr<const ObsModel> learned(const double* t, Index k, PriorSteps steps,
                                          Pool* pool) const override;
  double log_hyperprior() const override { return prior_of(*of_rows_).log_hyperprior(); }
  double occupied_term(const double* t) const override { return prior_of(*of_rows_).occupied_term(t); }
  bool has_occupied_term() const override { return prior_of(*of_rows_).has_occupied_term(); }
  NamedArrays learned_fields() const override { return prior_of(*of_rows_).learned_fields(); }
  void re_express(const ObsModel& from, double* t) const override;
  double strain() const override { return units_of(*of_rows_).strain(); }
  void from_complete(const ObsModel& complete, const double* complete_t, double* t) const override;

 private:
  void clear_patterns(double* v) const;  // sets the pattern counts, the last C of p numbers, to 0
  Vec of_row_statistics(const double* t, Index k) const;  // of K clusters, K × p'

  std::shared_ptr<const ObsModel> of_rows_;
  Capabilities can_;  // capabilities of the model of rows
  std::shared_ptr<const RowEstimates> estimates_;
  Index own_p_, patterns_, dense_;  // dense_: 1 for a linear model, since its rows may be sparse
};

}  // namespace bnpvi
