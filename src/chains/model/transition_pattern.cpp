#include "chains/model/transition_pattern.h"

#include <cmath>
#include <utility>

#include "chains/model/hmm.h"

namespace bnpvi::chains {

TransitionPattern::TransitionPattern(Index k, Vec fixed, Vec weight)
    : k_(k), fixed_(std::move(fixed)), weight_(std::move(weight)) {
  for (Index row = 0; row <= k_; ++row) {
    double taken = 0;
    for (Index j = 0; j < k_; ++j)
      if (!is_free(row, j)) taken += fixed_[row * k_ + j];
    for (Index j = 0; j < k_; ++j) {
      log_constant_.push_back(is_free(row, j) ? std::log1p(-taken) : std::log(fixed_[row * k_ + j]));
      has_zeros_ |= !is_free(row, j) && fixed_[row * k_ + j] == 0;
    }
  }
}

bool TransitionPattern::is_free(Index row, Index j) const { return std::isnan(fixed_[row * k_ + j]); }

double TransitionPattern::weight(Index row, Index j, double usual) const {
  const double own = weight_[row * k_ + j];
  return std::isnan(own) ? usual : own;
}

void TransitionPattern::leave_out_forbidden(Summary& counts) const {
  const auto is_forbidden = [&](Index row, Index j) { return log_constant(row, j) == -INFINITY; };
  for (Index j = 0; j < k_; ++j) {
    if (is_forbidden(0, j)) counts.extra[j] = 0;
    for (Index i = 0; i < k_; ++i)
      for (Index p = 0; p < counts.shape.pairs; ++p)
        if (is_forbidden(1 + i, j)) counts.of_pair(i, j, p) = 0;
  }
}

double TransitionPattern::value(const Summary& counts) const {
  double sum = 0;
  for (Index row = 0; row <= counts.shape.pairs * k_; ++row)
    for (Index j = 0; j < k_; ++j)
      if (const double n = transition_count(counts, row, j), log_p = log_constant(pattern_row(row, k_), j);
          n > 0 && log_p > -INFINITY)
        sum += n * log_p;
  return sum;
}

}  // namespace bnpvi::chains
