#include "observations/patterned_rows.h"

#include <algorithm>

namespace bnpvi {

PatternedRows::PatternedRows(std::shared_ptr<const ObsModel> of_rows, Index patterns)
    : of_rows_(std::move(of_rows)),
      can_(of_rows_->capabilities()),
      estimates_(row_estimates_of(*of_rows_)),
      own_p_(of_rows_->n_features()),
      patterns_(patterns),
      dense_(can_.linear ? 1 : bnpvi::n_dense(*of_rows_)) {}

Capabilities PatternedRows::capabilities() const {
  Capabilities out;
  out.lag = can_.lag;
  out.far_rows = can_.far_rows;
  out.wide_sums = can_.wide_sums;
  out.entries = this;
  out.cells = can_.cells;
  out.base = can_.base;
  out.individuals = can_.individuals;
  out.row_estimates = this;
  if (can_.gaps) out.gaps = this;
  if (can_.prior) out.prior = this;
  if (can_.units) out.units = this;
  return out;
}

void PatternedRows::clear_patterns(double* v) const { std::fill_n(v + own_p_, patterns_, 0.0); }

void PatternedRows::features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const {
  of_rows_->features(data, rows, n, phi, ld);
  for (Index i = 0; i < n; ++i) {
    clear_patterns(phi + i * ld);
    phi[i * ld + own_p_ + position_of(data.position, rows[i])] = phi[i * ld];
  }
}

void PatternedRows::dense_features(const Dataset& data, const Index* rows, Index n, double* phi,
                                   Index ld) const {
  if (can_.linear)
    for (Index i = 0; i < n; ++i) phi[i * ld] = 1;
  else if (can_.entries)
    can_.entries->dense_features(data, rows, n, phi, ld);
  else
    of_rows_->features(data, rows, n, phi, ld);
}

void PatternedRows::entries(const Dataset& data, const Index* rows, Index n, Entries& out) const {
  Entries own;
  if (can_.linear) {
    own.start.assign(1, 0);
    for (Index i = 0; i < n; ++i) {
      if (data.sparse())
        for (int e = data.row_start[rows[i]]; e < data.row_start[rows[i] + 1]; ++e) {
          own.at.push_back(data.column[e]);
          own.value.push_back(data.value[e]);
        }
      else
        for (Index j = 0; j < data.d; ++j) {
          own.at.push_back(static_cast<int>(j));
          own.value.push_back(data.dense[j * data.n + rows[i]]);
        }
      own.start.push_back(static_cast<int>(own.at.size()));
    }
  } else if (can_.entries) {
    can_.entries->entries(data, rows, n, own);
  } else {
    own.start.assign(static_cast<std::size_t>(n + 1), 0);
  }
  const bool valued = !own.value.empty();
  out.start.assign(1, 0);
  out.at.clear();
  out.value.clear();
  for (Index i = 0; i < n; ++i) {
    out.at.insert(out.at.end(), own.at.begin() + own.start[i], own.at.begin() + own.start[i + 1]);
    out.at.push_back(static_cast<int>(own_p_ - dense_ + position_of(data.position, rows[i])));
    if (valued) {
      out.value.insert(out.value.end(), own.value.begin() + own.start[i],
                       own.value.begin() + own.start[i + 1]);
      out.value.push_back(1);
    }
    out.start.push_back(static_cast<int>(out.at.size()));
  }
}

void PatternedRows::weights(const double* t, double* w) const {
  of_rows_->weights(t, w);
  clear_patterns(w);
}

double PatternedRows::evidence_and_weights(const double* t, double* w) const {
  clear_patterns(w);
  return of_rows_->evidence_and_weights(t, w);
}

void PatternedRows::point_estimate(const double* t, double* mean, double* w) const {
  of_rows_->point_estimate(t, mean, w);
  clear_patterns(mean);
  clear_patterns(w);
}

void PatternedRows::row_estimate(const double* phi, double times, double* mean, double* w) const {
  estimates_->row_estimate(phi, times, mean, w);
  clear_patterns(mean);
  clear_patterns(w);
}

void PatternedRows::draw(const double* t, Stream& stream, double* w) const {
  of_rows_->draw(t, stream, w);
  clear_patterns(w);
}

void PatternedRows::log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const {
  of_rows_->log_predictive(t, phi, n, ld, out);
}

NamedArrays PatternedRows::posterior(const double* t, Index k) const {
  return of_rows_->posterior(of_row_statistics(t, k).data(), k);
}

NamedArrays PatternedRows::mean_parameters(const double* t, Index k) const {
  return of_rows_->mean_parameters(of_row_statistics(t, k).data(), k);
}

std::shared_ptr<const ObsModel> PatternedRows::learned(const double* t, Index k, PriorSteps steps,
                                                       Pool* pool) const {
  auto next = prior_of(*of_rows_).learned(of_row_statistics(t, k).data(), k, steps, pool);
  return next ? std::make_shared<PatternedRows>(std::move(next), patterns_) : nullptr;
}

void PatternedRows::re_express(const ObsModel& from, double* t) const {
  units_of(*of_rows_).re_express(*same_kind<PatternedRows>(from).of_rows_, t);
}

void PatternedRows::from_complete(const ObsModel& complete, const double* complete_t, double* t) const {
  const PatternedRows& before = same_kind<PatternedRows>(complete);
  complete_to_gaps(*before.of_rows_, complete_t, *of_rows_, t);
  std::copy_n(complete_t + before.own_p_, patterns_, t + own_p_);
}

Vec PatternedRows::of_row_statistics(const double* t, Index k) const {
  Vec out;
  for (Index j = 0; j < k; ++j, t += n_features()) out.insert(out.end(), t, t + own_p_);
  return out;
}

}  // namespace bnpvi
