// Forecasts of a restricted fit: which of its clusters will join, and whether all will.
#include <algorithm>
#include <cmath>

#include "foundation/special.h"
#include "mixtures/restricted_fit.h"

namespace bnpvi::mixtures {

namespace {

// How much more than since the last call halves may part until each of the next ones: a guess.
constexpr double quickening = 2;

}  // namespace

bool RestrictedFit::collapses() {
  double mass = 0, entropy_of_sizes = 0;
  for (Index j = 0; j < k_; ++j) {
    mass += current_[j * p_];
    entropy_of_sizes -= x_log_x(current_[j * p_]);
  }
  entropy_of_sizes += x_log_x(mass);
  if (gain_of_joining_all() < entropy_of_sizes) return false;  // the sum of what all merges below must gain
  const Vec seeds = current_, near = near_;
  const Index k = k_;
  while (k_ > 1) {
    const std::vector<Pair> pairs = bounded_pairs();
    if (pairs.empty()) break;
    const auto [a, b, gain] = pairs.front();
    const double size_a = current_[a * p_], size_b = current_[b * p_];
    if (gain < x_log_x(size_a + size_b) - x_log_x(size_a) - x_log_x(size_b)) break;
    join(a, b);
  }
  if (k_ == 1) return foresaw_ = true;
  current_ = seeds;
  near_ = near;
  k_ = k;
  return false;
}

std::vector<RestrictedFit::Pair> RestrictedFit::bounded_pairs() {
  const Vec counts = all_counts();
  const Index all = static_cast<Index>(counts.size()) / alloc_.count_width(), first = all - k_;
  // near_ may be of more clusters, if some have been removed since.
  if (static_cast<Index>(near_.size()) != alloc_.numbers_in_u(all)) near_.clear();
  const double before = allocation_value(counts, near_);
  Vec evidence(static_cast<std::size_t>(k_)), with(static_cast<std::size_t>(p_));
  for (Index j = 0; j < k_; ++j) evidence[j] = used_evidence(problem_.obs, current_.data() + j * p_);
  std::vector<Pair> pairs;
  for (Index a = 0; a < k_; ++a)
    for (Index b = a + 1; b < k_; ++b) {
      for (Index i = 0; i < p_; ++i) with[i] = current_[a * p_ + i] + current_[b * p_ + i];
      double gain = used_evidence(problem_.obs, with.data()) - evidence[a] - evidence[b];
      Vec near = joined_search(near_, counts, first + a, first + b);
      gain +=
          allocation_value(joined_counts(alloc_, counts, first + a, first + b), near, before - gain) - before;
      if (gain > 0) pairs.push_back({a, b, gain});
    }
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& x, const Pair& y) { return x.gain > y.gain; });
  return pairs;
}

bool RestrictedFit::PartingHalves::fall_short(double gain_of_joining, int calls_left) {
  const double fall = last_ - gain_of_joining;
  last_ = gain_of_joining;
  if (!std::isfinite(fall)) return false;
  largest_fall_ = std::max(largest_fall_, fall);
  return fall < largest_fall_ / 2 && gain_of_joining > quickening * calls_left * std::max(fall, 0.0);
}

double RestrictedFit::gain_of_joining_all() const {
  Vec counts = all_counts(), joined(static_cast<std::size_t>(p_));
  const Index all = static_cast<Index>(counts.size()) / alloc_.count_width(), first = all - k_;
  if (static_cast<Index>(near_.size()) != alloc_.numbers_in_u(all)) near_.clear();
  double gain = -allocation_value(counts, near_);
  Vec near = near_;
  for (Index j = k_; j-- > 0;) {
    for (Index i = 0; i < p_; ++i) joined[i] += current_[j * p_ + i];
    gain -= used_evidence(problem_.obs, current_.data() + j * p_);
    if (j == 0) break;
    near = joined_search(near, counts, first, first + j);
    counts = joined_counts(alloc_, counts, first, first + j);
  }
  return gain + used_evidence(problem_.obs, joined.data()) + allocation_value(counts, near);
}

}  // namespace bnpvi::mixtures
