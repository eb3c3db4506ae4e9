#include "observations/obs_model.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace bnpvi {

void ObsModel::log_base(const Dataset&, const Index*, Index n, double* out) const {
  std::fill_n(out, n, 0.0);
}

std::unique_ptr<const MissingPattern> ObsModel::pattern(const MissingCells&) const {
  throw std::logic_error("this observation model has no cells that may be missing");
}

double ObsModel::evidence_and_weights(const double* t, double* w) const {
  weights(t, w);
  return log_evidence(t);
}

void ObsModel::row_estimate(const double* phi, double times, double* mean, double* w) const {
  Vec t(phi, phi + n_features());
  for (double& x : t) x *= times;
  point_estimate(t.data(), mean, w);
}

void ObsModel::add_to_urn(double* urn, const double* phi) const {
  add_features(urn, phi, 1);
  fill_urn(urn);
}

void ObsModel::remove_from_urn(double* urn, const double* phi) const {
  add_features(urn, phi, -1);
  fill_urn(urn);
}

void ObsModel::add_features(double* t, const double* phi, double sign) const {
  for (Index i = 0; i < n_features(); ++i) t[i] += sign * phi[i];
}

void ObsModel::urn_predictives(const double* urns, Index k, const double* phi, double* out) const {
  for (Index j = 0; j < k; ++j) log_predictive(urns + j * urn_size(), phi, 1, n_features(), out + j);
}

void ObsModel::log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const {
  const Index p = n_features();
  const double before = log_evidence(t);
  Vec with(static_cast<std::size_t>(p));
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < p; ++j) with[j] = t[j] + phi[i * ld + j];
    out[i] = log_evidence(with.data()) - before;
  }
}

void sort_by_missing_cells(const ObsModel& obs, const Dataset& data, std::vector<Index>& rows) {
  if (obs.n_cells() == 0) return;
  const std::vector<IncompleteRows> groups =
      obs.incomplete_rows(data, rows.data(), static_cast<Index>(rows.size()));
  std::vector<bool> complete(rows.size(), true);
  for (const IncompleteRows& group : groups)
    for (Index i : group.at) complete[i] = false;
  std::vector<Index> out;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (complete[i]) out.push_back(rows[i]);
  for (const IncompleteRows& group : groups)
    for (Index i : group.at) out.push_back(rows[i]);
  rows.swap(out);
}

Index occupied_clusters(const double* t, Index k, Index p) {
  Index out = 0;
  for (Index j = 0; j < k; ++j) out += t[j * p] > 0;
  return out;
}

double sum_log_base(const ObsModel& obs, const Dataset& data, const std::vector<Index>& rows, Pool* pool) {
  if (!obs.has_base()) return 0;
  constexpr Index step = 512;  // rows a task: a guess
  const Index n = static_cast<Index>(rows.size()), n_parts = (n + step - 1) / step;
  Vec sum(static_cast<std::size_t>(n_parts));
  for_each_part(pool, n_parts, [&](Index part) {
    double value[step];
    const Index from = part * step, m = std::min(step, n - from);
    obs.log_base(data, rows.data() + from, m, value);
    for (Index i = 0; data.weight && i < m; ++i) value[i] *= data.weight[rows[from + i]];
    sum[part] = std::accumulate(value, value + m, 0.0);
  });
  return std::accumulate(sum.begin(), sum.end(), 0.0);
}

}  // namespace bnpvi
