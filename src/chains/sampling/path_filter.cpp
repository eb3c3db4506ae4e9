#include "chains/sampling/path_filter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "chains/sampling/transition_counts.h"

namespace bnpvi::chains {

namespace {
constexpr double never = -std::numeric_limits<double>::infinity();
}  // namespace

PathFilter::PathFilter(Index k, const Vec& log_rows) : k_(k), log_rows_(log_rows) {
  steps_.reserve(log_rows_.size());
  for (Index row = 0; row <= k_; ++row) {
    for (Index j = 0; j < k_; ++j) steps_.push_back({log_rows_[row * k_ + j], static_cast<int>(j)});
    std::sort(steps_.end() - k_, steps_.end(), [](const Step& a, const Step& b) {
      return a.log_p > b.log_p || (a.log_p == b.log_p && a.to < b.to);
    });
  }
}

void PathFilter::draw(Index n, double* log_e, const double* log_slice, Stream& stream, int* state) const {
  const double least = std::numeric_limits<double>::lowest();  // −∞ is never reached
  const auto level = [&](Index t) { return log_slice ? log_slice[t] : least; };
  const auto value = [&](double log_p) { return log_slice ? 0 : log_p; };
  Vec top(static_cast<std::size_t>(k_)), weight(top.size());
  for (Index t = 0; t < n; ++t) {
    double *now = log_e + t * k_, *before = now - k_;
    std::fill(top.begin(), top.end(), never);
    std::fill(weight.begin(), weight.end(), 0.0);
    const auto for_ways = [&](auto f) {
      if (t == 0) return for_steps(start_row, level(t), [&](const Step& s) { f(s.to, value(s.log_p)); });
      for (Index j = 0; j < k_; ++j) {
        if (before[j] == never) continue;
        for_steps(row_after(j), level(t), [&](const Step& s) { f(s.to, before[j] + value(s.log_p)); });
      }
    };
    for_ways([&](int to, double log_p) { top[to] = std::max(top[to], log_p); });
    for_ways([&](int to, double log_p) { weight[to] += std::exp(log_p - top[to]); });
    double most = never;
    for (Index j = 0; j < k_; ++j) {
      now[j] = top[j] == never ? never : top[j] + std::log(weight[j]) + now[j];
      most = std::max(most, now[j]);
    }
    if (!(most > never)) throw std::domain_error("a row can be reached from no state: numbers broke down");
    for (Index j = 0; j < k_; ++j) now[j] -= most;
  }
  for (Index t = n - 1; t >= 0; --t) {
    const double* now = log_e + t * k_;
    for (Index j = 0; j < k_; ++j) {
      weight[j] = now[j];
      if (t == n - 1) continue;
      const double step = log_rows_[row_after(j) * k_ + state[t + 1]];
      weight[j] = step < level(t + 1) ? never : weight[j] + value(step);
    }
    const double most = *std::max_element(weight.begin(), weight.end());
    for (double& w : weight) w = std::exp(w - most);
    state[t] = static_cast<int>(bnpvi::draw(weight, stream));
  }
}

}  // namespace bnpvi::chains
