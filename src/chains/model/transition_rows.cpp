#include "chains/model/transition_rows.h"

#include <numeric>

#include "kernels/kernels.h"

namespace bnpvi::chains {

Vec TransitionRows::sums() const {
  Vec out;
  for (Index j = 0; j < n(); ++j) out.push_back(std::accumulate(row(j), row(j) + width, 0.0));
  return out;
}

RoundedSum sum_of_log_gammas(const TransitionRows& rows) {
  Vec values(rows.theta.size());
  kernels().log_gamma_each(static_cast<Index>(values.size()), rows.theta.data(), values.data());
  RoundedSum sum;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (rows.theta[i] > 0) sum.add(values[i]);
  return sum;
}

Vec digammas(const TransitionRows& rows) {
  Vec values(rows.theta.size());
  kernels().digamma_each(static_cast<Index>(values.size()), rows.theta.data(), values.data());
  return values;
}

}  // namespace bnpvi::chains
