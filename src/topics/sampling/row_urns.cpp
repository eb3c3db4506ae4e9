#include "topics/sampling/row_urns.h"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.h"

namespace bnpvi::topics {

double exp_where_possible(const Vec& prior, double* x) {
  const Index n = static_cast<Index>(prior.size());
  double most = -HUGE_VAL, top = 0;
  for (Index j = 0; j < n; ++j)
    if (prior[j] > 0) most = std::max(most, x[j]);
  for (Index j = 0; j < n; ++j)
    if (!(prior[j] > 0)) x[j] = most;
  kernels().exp_rows(1, n, x, n, x, n, &top);
  return top;
}

RowUrns::RowUrns(const ObsModel& obs, const RowFeatures& rows)
    : rows_(rows), urns_(obs), phi_(static_cast<std::size_t>(rows.p())) {
  begin_with(nullptr, 0);
}

void RowUrns::begin_with(const double* t, Index k) {
  urns_.begin_with(t, k);
  begun_.assign(t, t + k * rows_.p());
  topic_.assign(static_cast<std::size_t>(rows_.n()), -1);
  mass_.assign(static_cast<std::size_t>(rows_.n()), 0.0);
  removed_ = -1;
}

void RowUrns::begin_with(const std::vector<int>& label, Index k) {
  begin_with(nullptr, 0);
  urns_.open(k - 1);
  for (Index i = 0; i < rows_.n(); ++i) urns_.gather(label[i], rows_.of(i, phi_.data()));
  urns_.fill();
  topic_ = label;
  mass_.assign(label.size(), 1.0);
}

void RowUrns::add(Index j, Index i, double mass) {
  if (removed_ == i && removed_from_ == j && mass_[i] == mass)
    urns_.put_back();
  else
    urns_.add(j, rows_.of(i, phi_.data()), mass);
  topic_[i] = static_cast<int>(j);
  mass_[i] = mass;
  removed_ = -1;
}

bool RowUrns::remove(Index j, Index i, double mass) {
  const bool emptied = urns_.remove(j, rows_.of(i, phi_.data()), mass);
  topic_[i] = -1;
  removed_ = i;
  removed_from_ = j;
  return emptied;
}

void RowUrns::drop(Index j) {
  const int last = static_cast<int>(k()) - 1;
  urns_.drop(j);
  if (j != last) std::replace(topic_.begin(), topic_.end(), last, static_cast<int>(j));
  removed_ = -1;
}

double RowUrns::weigh(Index i, const Vec& prior, double* out) {
  urns_.predictives(rows_.of(i, phi_.data()), static_cast<Index>(prior.size()), out);
  const double top = exp_where_possible(prior, out);
  for (std::size_t j = 0; j < prior.size(); ++j) out[j] *= prior[j];
  return top;
}

void RowUrns::weigh_without(Index i, Index own, double mass, const Vec& prior, double* out) const {
  Vec buffer(static_cast<std::size_t>(rows_.p()));
  const double* phi = rows_.of(i, buffer.data());
  urns_.predictives(phi, static_cast<Index>(prior.size()), out);
  if (own >= 0) out[own] = urns_.predictive_without(own, phi, mass);
  exp_where_possible(prior, out);
  for (std::size_t j = 0; j < prior.size(); ++j) out[j] *= prior[j];
}

Vec RowUrns::statistics() const {
  const Index p = rows_.p();
  Vec t = begun_, buffer(static_cast<std::size_t>(p));
  t.resize(static_cast<std::size_t>(k() * p), 0.0);
  for (Index i = 0; i < rows_.n(); ++i) {
    if (topic_[i] < 0) continue;
    const double* phi = rows_.of(i, buffer.data());
    for (Index f = 0; f < p; ++f) t[topic_[i] * p + f] += mass_[i] * phi[f];
  }
  return t;
}

}  // namespace bnpvi::topics
