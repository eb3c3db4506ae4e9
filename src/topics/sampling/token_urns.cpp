#include "topics/sampling/token_urns.h"

#include <algorithm>
#include <numeric>

namespace bnpvi::topics {

namespace {

constexpr Index first_room = 16;

}  // namespace

TokenUrns::TokenUrns(const std::vector<int>& words, const Vec& lambda)
    : words_(words),
      lambda_(lambda),
      total_(std::accumulate(lambda.begin(), lambda.end(), 0.0)),
      v_(static_cast<Index>(lambda.size())) {}

void TokenUrns::begin_with(const double* t, Index k) {
  n_begun_ = k;
  room_ = std::max(first_room, k + k / 2);
  counts_.assign(static_cast<std::size_t>(v_ * room_), 0.0);
  size_.clear();
  inverse_.clear();
  for (Index j = 0; j < k; ++j) {
    const double* row = t + j * (1 + v_);
    size_.push_back(row[0]);
    inverse_.push_back(1 / (row[0] + total_));
    for (Index w = 0; w < v_; ++w) counts_[w * room_ + j] = row[1 + w];
  }
  own_.assign(static_cast<std::size_t>(k), 0);
}

void TokenUrns::grow() {
  const Index room = 2 * room_;
  Vec counts(static_cast<std::size_t>(v_ * room), 0.0);
  for (Index w = 0; w < v_; ++w) std::copy_n(counts_.begin() + w * room_, k(), counts.begin() + w * room);
  counts_ = std::move(counts);
  room_ = room;
}

void TokenUrns::add(Index j, Index i, double mass) {
  if (j == k()) {
    if (j == room_) grow();
    size_.push_back(0);
    inverse_.push_back(0);
    own_.push_back(0);
  }
  counts_[words_[i] * room_ + j] += mass;
  size_[j] += mass;
  ++own_[j];
  inverse_[j] = 1 / (size_[j] + total_);
}

bool TokenUrns::remove(Index j, Index i, double mass) {
  double& count = counts_[words_[i] * room_ + j];
  count = std::max(0.0, count - mass);
  size_[j] = std::max(0.0, size_[j] - mass);
  inverse_[j] = 1 / (size_[j] + total_);
  return --own_[j] == 0 && j >= n_begun_;
}

void TokenUrns::drop(Index j) {
  const Index last = k() - 1;
  for (Index w = 0; w < v_; ++w) {
    double* row = counts_.data() + w * room_;
    row[j] = row[last];
    row[last] = 0;
  }
  size_[j] = size_[last];
  inverse_[j] = inverse_[last];
  own_[j] = own_[last];
  size_.pop_back();
  inverse_.pop_back();
  own_.pop_back();
}

double TokenUrns::weigh_without(Index i, Index own, double mass, const Vec& odds, double* out) const {
  const Index w = words_[i];
  const double* count = counts_.data() + w * room_;
  const double lambda = lambda_[w];
  const Index n = std::min(static_cast<Index>(odds.size()), k());
  for (Index j = 0; j < n; ++j) out[j] = (count[j] + lambda) * inverse_[j] * odds[j];
  if (static_cast<Index>(odds.size()) > k()) out[k()] = odds[k()] * (lambda / total_);
  if (own >= 0)
    out[own] = odds[own] * (std::max(0.0, count[own] - mass) + lambda) /
               (std::max(0.0, size_[own] - mass) + total_);
  return 0;
}

Vec TokenUrns::statistics(const Vec& /*begun*/, const std::vector<int>& /*label*/,
                          const Vec& /*mass*/) const {
  Vec t(static_cast<std::size_t>(k() * (1 + v_)));
  for (Index j = 0; j < k(); ++j) {
    double* row = t.data() + j * (1 + v_);
    row[0] = size_[j];
    for (Index w = 0; w < v_; ++w) row[1 + w] = counts_[w * room_ + j];
  }
  return t;
}

}  // namespace bnpvi::topics
