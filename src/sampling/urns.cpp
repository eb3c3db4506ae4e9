#include "sampling/urns.h"

#include <algorithm>

namespace bnpvi {

Urns::Urns(const ObsModel& obs)
    : obs_(obs), rule_(urn_of(obs)), size_(rule_->urn_size()), empty_(static_cast<std::size_t>(size_), 0.0) {
  rule_->fill_urn(empty_.data());
  clear();
}

void Urns::open(Index j) {
  while (k() <= j) {
    urns_.insert(urns_.end(), empty_.begin(), empty_.end());
    count_.push_back(0);
  }
}

void Urns::change(double* urn, const double* phi, double mass) const {
  for (Index i = 0, p = obs_.n_features(); i < p; ++i) urn[i] += mass * phi[i];
  if (mass == 1 || mass == -1)
    rule_->refill_urn(urn, phi, mass);
  else
    rule_->fill_urn(urn);
}

void Urns::add(Index j, const double* phi, double mass) {
  open(j);
  change(urn(j), phi, mass);
  ++count_[j];
}

bool Urns::remove(Index j, const double* phi, double mass) {
  removed_from_.assign(urn(j), urn(j) + size_);
  removed_ = j;
  change(urn(j), phi, -mass);
  return --count_[j] == 0 && j >= n_begun_;
}

void Urns::put_back() {
  std::copy(removed_from_.begin(), removed_from_.end(), urn(removed_));
  ++count_[removed_];
}

void Urns::drop(Index j) {
  const Index last = k() - 1;
  if (j != last) std::copy_n(urn(last), size_, urn(j));
  std::copy(empty_.begin(), empty_.end(), urn(last));
  count_[j] = count_[last];
  count_.pop_back();
  urns_.resize(static_cast<std::size_t>((last + 1) * size_));
}

void Urns::join(Index a, Index b) {
  const double* from = urn(b);
  double* to = urn(a);
  for (Index i = 0, p = obs_.n_features(); i < p; ++i) to[i] += from[i];
  rule_->fill_urn(to);
  count_[a] += count_[b];
  drop(b);
}

void Urns::replace(Index j, const Urns& others, Index i) {
  open(j);
  std::copy_n(others.urn(i), size_, urn(j));
  count_[j] = others.count_[i];
}

void Urns::clear() {
  urns_ = empty_;
  count_.clear();
  n_begun_ = 0;
}

void Urns::begin_with(const double* t, Index k) {
  clear();
  if (k > 0) open(k - 1);
  n_begun_ = k;
  for (Index j = 0, p = obs_.n_features(); j < k; ++j) std::copy_n(t + j * p, p, urn(j));
  fill();
}

void Urns::gather(Index j, const double* phi) {
  open(j);
  double* t = urn(j);
  for (Index i = 0, p = obs_.n_features(); i < p; ++i) t[i] += phi[i];
  ++count_[j];
}

void Urns::fill() {
  for (Index j = 0; j < k(); ++j) rule_->fill_urn(urn(j));
}

void Urns::predictives(const double* phi, Index k, double* out) const {
  rule_->urn_predictives(urns_.data(), k, phi, out);
}

double Urns::predictive(Index j, const double* phi) const {
  double out = 0;
  rule_->urn_predictives(urn(j), 1, phi, &out);
  return out;
}

double Urns::predictive_without(Index j, const double* phi, double mass) const {
  Vec without(urn(j), urn(j) + size_);
  change(without.data(), phi, -mass);
  double out = 0;
  rule_->urn_predictives(without.data(), 1, phi, &out);
  return out;
}

double Urns::log_evidence(Index j) const { return obs_.log_evidence(urn(j)); }

double Urns::log_evidence(Index a, Index b) const {
  Vec t(urn(a), urn(a) + obs_.n_features());
  for (std::size_t i = 0; i < t.size(); ++i) t[i] += urn(b)[i];
  return obs_.log_evidence(t.data());
}

}  // namespace bnpvi
