#include "observations/repeated_rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "observations/gather.h"

namespace bnpvi {

RepeatedRows::RepeatedRows(std::shared_ptr<const ObsModel> of_rows, RowsOfIndividuals those)
    : of_rows_(std::move(of_rows)),
      rows_(those),
      own_p_(of_rows_->n_features()),
      has_base_(of_rows_->capabilities().base != nullptr) {
  const Capabilities rows = of_rows_->capabilities();
  if (rows.lag > 0 || (rows.cells && rows_ == RowsOfIndividuals::added_up))
    throw std::invalid_argument("internal error: features of this model's rows cannot be added up");
}

Capabilities RepeatedRows::capabilities() const {
  const Capabilities rows = of_rows_->capabilities();
  Capabilities out;
  out.linear = true;
  out.wide_sums = rows.wide_sums;
  if (rows.gaps) out.gaps = this;
  if (rows.prior) out.prior = this;
  if (rows.units) out.units = this;
  out.individuals = this;
  return out;
}

void RepeatedRows::features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const {
  gather_linear(data, rows, n, phi, ld);
}

std::shared_ptr<const ObsModel> RepeatedRows::learned(const double* t, Index k, PriorSteps steps,
                                                      Pool* pool) const {
  const auto next = prior_of(*of_rows_).learned(of_row_statistics(t, k).data(), k, steps, pool);
  return next ? std::make_shared<RepeatedRows>(next) : nullptr;
}

void RepeatedRows::re_express(const ObsModel& from, double* t) const {
  units_of(*of_rows_).re_express(*same_kind<RepeatedRows>(from).of_rows_, t + 1);
}

void RepeatedRows::from_complete(const ObsModel& complete, const double* complete_t, double* t) const {
  const RepeatedRows& before = same_kind<RepeatedRows>(complete);
  t[0] = complete_t[0];
  complete_to_gaps(*before.of_rows_, complete_t + 1, *of_rows_, t + 1);
  if (has_base_) t[1 + own_p_] = complete_t[1 + before.own_p_];
}

double RepeatedRows::log_evidence(const double* t) const {
  return of_rows_->log_evidence(t + 1) + (has_base_ ? t[1 + own_p_] : 0);
}

void RepeatedRows::weights(const double* t, double* w) const {
  of_rows_->weights(t + 1, w + 1);
  complete_weights(w);
}

double RepeatedRows::evidence_and_weights(const double* t, double* w) const {
  const double value = of_rows_->evidence_and_weights(t + 1, w + 1);
  complete_weights(w);
  return value + (has_base_ ? t[1 + own_p_] : 0);
}

void RepeatedRows::point_estimate(const double* t, double* mean, double* w) const {
  of_rows_->point_estimate(t + 1, mean + 1, w + 1);
  complete_weights(w);
  const double rows = t[0] > 0 ? t[1] / t[0] : 1;
  mean[0] = 1;
  for (Index i = 1; i <= own_p_; ++i) mean[i] *= rows;
  if (has_base_) mean[1 + own_p_] = 0;
}

void RepeatedRows::draw(const double* t, Stream& stream, double* w) const {
  of_rows_->draw(t + 1, stream, w + 1);
  complete_weights(w);
}

NamedArrays RepeatedRows::posterior(const double* t, Index k) const {
  return of_rows_->posterior(of_row_statistics(t, k).data(), k);
}

NamedArrays RepeatedRows::mean_parameters(const double* t, Index k) const {
  return of_rows_->mean_parameters(of_row_statistics(t, k).data(), k);
}

Vec RepeatedRows::of_row_statistics(const double* t, Index k) const {
  Vec out;
  for (Index j = 0; j < k; ++j, t += n_features()) out.insert(out.end(), t + 1, t + 1 + own_p_);
  return out;
}

void RepeatedRows::complete_weights(double* w) const {
  w[0] = 0;
  if (has_base_) w[1 + own_p_] = 1;
}

IndividualSums::IndividualSums(const RepeatedRows& model, const Dataset& rows, const int* individual,
                               Index n) {
  data_.n = n;
  data_.d = model.n_columns();
  data_.starts = {0, n};
  data_.rows_are_groups = n == 1;
  if (model.rows() == RowsOfIndividuals::kept)
    keep(rows, individual);
  else if (rows.sparse() && model.of_rows().capabilities().linear)
    add_sparse(model, rows, individual);
  else
    add_dense(model, rows, individual);
  if (rows.weight) weight_.resize(static_cast<std::size_t>(n));
  if (rows.classes) classes_.resize(static_cast<std::size_t>(n));
  if (rows.position) position_.resize(static_cast<std::size_t>(n));
  for (Index row = rows.n - 1; row >= 0; --row) {
    if (rows.weight) weight_[individual[row]] = rows.weight[row];
    if (rows.classes) classes_[individual[row]] = rows.classes[row];
    if (rows.position) position_[individual[row]] = rows.position[row];
  }
  data_.weight = data_or_null(weight_);
  data_.classes = rows.classes ? classes_.data() : nullptr;
  data_.position = rows.position ? position_.data() : nullptr;
  data_.class_sets = rows.class_sets;
}

void IndividualSums::add_dense(const RepeatedRows& model, const Dataset& rows, const int* individual) {
  constexpr Index step = 256;  // rows at a time: a guess
  const ObsModel& of_rows = model.of_rows();
  const Index p = of_rows.n_features();
  const BaseMeasure* base_of_rows = of_rows.capabilities().base;
  dense_.assign(static_cast<std::size_t>(data_.n * data_.d), 0.0);
  Vec phi(static_cast<std::size_t>(step * p)), base(static_cast<std::size_t>(step));
  std::vector<Index> number(static_cast<std::size_t>(step));
  for (Index from = 0; from < rows.n; from += step) {
    const Index n = std::min(step, rows.n - from);
    for (Index i = 0; i < n; ++i) number[i] = from + i;
    of_rows.features(rows, number.data(), n, phi.data(), p);
    if (base_of_rows) base_of_rows->log_base(rows, number.data(), n, base.data());
    for (Index j = 0; j < p; ++j)
      for (Index i = 0; i < n; ++i) dense_[j * data_.n + individual[from + i]] += phi[i * p + j];
    for (Index i = 0; base_of_rows && i < n; ++i) dense_[p * data_.n + individual[from + i]] += base[i];
  }
  data_.dense = dense_.data();
}

void IndividualSums::add_sparse(const RepeatedRows& model, const Dataset& rows, const int* individual) {
  const BaseMeasure* base_of_rows = model.of_rows().capabilities().base;
  std::vector<std::map<int, double>> sum(static_cast<std::size_t>(data_.n));
  for (Index row = 0; row < rows.n; ++row) {
    std::map<int, double>& own = sum[individual[row]];
    own[0] += 1;
    for (int e = rows.row_start[row]; e < rows.row_start[row + 1]; ++e)
      own[1 + rows.column[e]] += rows.value[e];
    if (!base_of_rows) continue;
    double base;
    base_of_rows->log_base(rows, &row, 1, &base);
    own[static_cast<int>(data_.d) - 1] += base;
  }
  row_start_.push_back(0);
  for (const auto& own : sum) {
    for (const auto& [column, value] : own) {
      column_.push_back(column);
      value_.push_back(value);
    }
    row_start_.push_back(static_cast<int>(column_.size()));
  }
  view_entries();
}

void IndividualSums::keep(const Dataset& rows, const int* individual) {
  const auto whole = [&](Index row) {
    for (Index j = 0; j < rows.d; ++j)
      if (std::isnan(rows.dense[j * rows.n + row])) return false;
    return true;
  };
  std::vector<std::vector<Index>> own(static_cast<std::size_t>(data_.n));
  Index most = 1;
  for (Index row = 0; row < rows.n; ++row)
    if (whole(row)) own[individual[row]].push_back(row);
  row_start_.push_back(0);
  for (const std::vector<Index>& of_one : own) {
    int column = 0;
    for (Index row : of_one)
      for (Index j = 0; j < rows.d; ++j) {
        value_.push_back(rows.dense[j * rows.n + row]);
        column_.push_back(column++);
      }
    most = std::max(most, static_cast<Index>(column));
    row_start_.push_back(static_cast<int>(value_.size()));
  }
  data_.d = most;
  view_entries();
}

void IndividualSums::view_entries() {
  data_.row_start = row_start_.data();
  data_.column = column_.data();
  data_.value = value_.data();
}

}  // namespace bnpvi
