// Model of repeated measurements: an individual has several rows, which share its cluster.
#pragma once
#include <memory>

#include "foundation/class_sets.h"
#include "observations/capabilities.h"

namespace bnpvi {

/// The data of an individual: the sums of the features of its rows (added_up), or all cells of its rows, one
/// row after the other (kept).
enum class RowsOfIndividuals { added_up, kept };

/// The model of an individual with measurements x_1 .. x_m, m ≥ 1. Given the individual's cluster they are
/// independent, and follow the model of single rows, which has features φ' and log evidence Λ':
///   φ = (1, m, Σ φ'(x_i)∖0, Σ log h(x_i)),   Λ(T) = Λ'(T_1, T_2, ...) + T_{p−1},
/// φ'∖0 are the features without φ'_0. The last feature exists only if the model of rows has a base measure
/// h(x). T_0 counts individuals, and only the allocation to clusters uses it; T_1 counts their rows. The data
/// have the features after the first (IndividualSums). All is linear in these, so learning treats individuals
/// like any other rows.
class RepeatedRows final : public ObsModel, public Gaps, public ColumnUnits, public LearnedPrior {
 public:
  /// Throws std::invalid_argument if rows depend on earlier rows, or if missing cells are replaced by
  /// expectations: these depend on the cluster, so features could not be added up beforehand. With
  /// RowsOfIndividuals::kept another model interprets the cells, and this one only describes the data.
  explicit RepeatedRows(std::shared_ptr<const ObsModel> of_rows,
                        RowsOfIndividuals rows = RowsOfIndividuals::added_up);

  const ObsModel& of_rows() const { return *of_rows_; }
  RowsOfIndividuals rows() const { return rows_; }

  Index n_features() const override { return 1 + own_p_ + (has_base_ ? 1 : 0); }
  Index n_columns() const override { return n_features() - 1; }
  Capabilities capabilities() const override;
  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override;
  std::shared_ptr<const ObsModel> learned(const double* t, Index k, PriorSteps steps,
                                          Pool* pool) const override;
  double log_hyperprior() const override { return prior_of(*of_rows_).log_hyperprior(); }
  double occupied_term(const double* t) const override { return prior_of(*of_rows_).occupied_term(t + 1); }
  bool has_occupied_term() const override { return prior_of(*of_rows_).has_occupied_term(); }
  NamedArrays learned_fields() const override { return prior_of(*of_rows_).learned_fields(); }
  void re_express(const ObsModel& from, double* t) const override;
  void from_complete(const ObsModel& complete, const double* complete_t, double* t) const override;
  double strain() const override { return units_of(*of_rows_).strain(); }
  double log_evidence(const double* t) const override;
  void weights(const double* t, double* w) const override;
  double evidence_and_weights(const double* t, double* w) const override;
  /// Writes the mean statistic of a row, times the average number of rows of the cluster's individuals (1 in
  /// an empty cluster). So a divergence between clusters is one of all rows of an individual.
  void point_estimate(const double* t, double* mean, double* w) const override;
  void draw(const double* t, Stream& stream, double* w) const override;
  NamedArrays posterior(const double* t, Index k) const override;
  NamedArrays mean_parameters(const double* t, Index k) const override;

 private:
  Vec of_row_statistics(const double* t, Index k) const;  // statistics of rows, K × p'
  void complete_weights(double* w) const;  // sets the weights of the features that single rows do not have

  std::shared_ptr<const ObsModel> of_rows_;
  RowsOfIndividuals rows_;
  Index own_p_;  // p', the number of features of a single row
  bool has_base_;
};

/// The data for RepeatedRows, with a row for each of n individuals: its number of rows m, Σ φ'(x_i)∖0 and Σ
/// log h(x_i); at most n × p' numbers. For sparse rows of a linear model the sums are sparse. With
/// RowsOfIndividuals::kept the entries of an individual are the cells of its rows, row by row, as one sparse
/// row; rows with a missing cell are left out.
class IndividualSums {
 public:
  /// individual: for each row of `rows`, the number of its individual, below n; every individual needs a row.
  /// Weight, classes and covariate pattern of an individual are those of its first row.
  IndividualSums(const RepeatedRows& model, const Dataset& rows, const int* individual, Index n);
  IndividualSums(const IndividualSums&) = delete;  // the view of the data points into this object
  IndividualSums& operator=(const IndividualSums&) = delete;

  const Dataset& view() const { return data_; }

 private:
  void add_dense(const RepeatedRows& model, const Dataset& rows, const int* individual);
  void add_sparse(const RepeatedRows& model, const Dataset& rows, const int* individual);
  void keep(const Dataset& rows, const int* individual);
  void view_entries();

  Dataset data_;
  Vec dense_, value_, weight_;
  std::vector<int> row_start_, column_, classes_, position_;
};

}  // namespace bnpvi
