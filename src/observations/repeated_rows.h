// Repeated measurements: several rows of one individual, which share its cluster.
#pragma once
#include <memory>

#include "foundation/class_sets.h"
#include "observations/capabilities.h"

namespace bnpvi {

/// What is made of an individual's rows: sums of their features, or all their cells, one row after the other.
enum class RowsOfIndividuals { added_up, kept };

/// The model of an individual with measurements x_1 .. x_m, m ≥ 1, which are independent given its cluster
/// and follow the model of rows, with features φ' and log evidence Λ' there:
///   φ = (1, m, Σ φ'(x_i)∖0, Σ log h(x_i)),   Λ(T) = Λ'(T_1, T_2, ...) + T_{p−1},
/// the last feature only where the model of rows has a base measure. T_0 counts individuals, for the
/// allocation alone, and T_1 their rows. All of this is linear in what the data hold of an individual, φ but
/// its 1 (IndividualSums): learning, moves and batches know of individuals as of any other rows.
class RepeatedRows final : public ObsModel, public Gaps, public ColumnUnits, public LearnedPrior {
 public:
  /// Throws std::invalid_argument for models of rows that depend on those before them, or with cells that are
  /// expected where they are missing: what is expected of a row depends on its cluster, so that features
  /// cannot be added up beforehand. Where rows are kept, another model knows what they mean: this one then
  /// says only what the data of an individual are.
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
  /// s̃ has the average number of rows of the cluster's individuals (1 where there are none) times the mean
  /// statistic of a row, so that a divergence is that of all rows of an individual.
  void point_estimate(const double* t, double* mean, double* w) const override;
  void draw(const double* t, Stream& stream, double* w) const override;
  NamedArrays posterior(const double* t, Index k) const override;
  NamedArrays mean_parameters(const double* t, Index k) const override;

 private:
  Vec of_row_statistics(const double* t, Index k) const;  // of K clusters, K × p'
  void complete_weights(double* w) const;                 // of what is no feature of rows

  std::shared_ptr<const ObsModel> of_rows_;
  RowsOfIndividuals rows_;
  Index own_p_;  // p'
  bool has_base_;
};

/// The data of RepeatedRows, one row an individual: m, Σ φ'(x_i)∖0 and Σ log h(x_i). Of sparse rows of a
/// linear model the sums are sparse. n × p' numbers at most. Rows that are kept are the entries of a sparse
/// row, cell by cell and row by row, without those that lack a cell.
class IndividualSums {
 public:
  /// individual: of each row, its number below n; every individual has a row. The weight, the classes and the
  /// covariate pattern of an individual are those of its first row.
  IndividualSums(const RepeatedRows& model, const Dataset& rows, const int* individual, Index n);
  IndividualSums(const IndividualSums&) = delete;  // the view points into it
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
