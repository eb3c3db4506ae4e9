#include "chains/messages/window_messages.h"

#include <algorithm>
#include <cmath>

namespace bnpvi::chains {

WindowMessages messages_between(const Chain& chain, Index n, const Ends& ends, double* log_e, double* e,
                                double* alpha, double* scale, double* beta, std::uint8_t* first,
                                double* start_count) {
  const Index k = chain.k;
  WindowMessages out;
  std::fill_n(first, n, std::uint8_t{0});
  std::fill_n(alpha, k, 0.0);
  if (ends.before < 0)
    first[0] = 1;
  else
    alpha[ends.before] = 1;
  out.sure = forward(chain, {n, first}, e, alpha, scale);
  if (!out.sure) return out;
  for (Index t = 0; t < n; ++t) out.log_sum += std::log(scale[t]);
  std::fill_n(beta, k, 1.0);
  if (ends.after >= 0) {
    const double* const last = alpha + n * k;
    double sum = 0;
    for (Index j = 0; j < k; ++j) sum += last[j] * (beta[j] = chain.transition[j * k + ends.after]);
    out.sure = sum > trustworthy;
    if (!out.sure) return out;
    out.log_sum += std::log(sum);
    out.entropy += std::log(sum);
    for (Index j = 0; j < k; ++j) {
      beta[j] /= sum;
      out.entropy -= last[j] * beta[j] * std::max(chain.log_transition[j * k + ends.after], Chain::lowest);
    }
  }
  backward(chain, {n, first}, alpha, scale, log_e, e, beta, start_count, out.entropy);
  return out;
}

double probability_of_ends(const Ends& ends, const EndMessages& before, const EndMessages& after,
                           double log_scale, double log_sum) {
  const double inside = std::exp(log_sum - log_scale);
  return inside * (ends.before < 0 ? 1 : before.alpha) * (ends.after < 0 ? 1 : after.nu);
}

}  // namespace bnpvi::chains
