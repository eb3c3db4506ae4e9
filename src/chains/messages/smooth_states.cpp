#include "chains/messages/smooth_states.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "foundation/data.h"
#include "kernels/kernels.h"

namespace bnpvi::chains {

namespace {

// For a chain with zeros, where all states are known.
Vec smoothed_in_log_space(const Chain& chain, const TreeRows& rows, Vec log_e) {
  Vec m(log_e.size()), u(log_e.size()), start(static_cast<std::size_t>(chain.k)),
      pair(chain.log_transition.size());
  double entropy = 0;
  TreeMessages messages(chain, true);
  const double log_z = messages.upward(rows, log_e.data(), m.data(), u.data());
  messages.downward(rows, log_z, log_e.data(), m.data(), u.data(), {start.data(), pair.data(), &entropy});
  return log_e;
}

}  // namespace

Vec smoothed_states(const Chain& chain, const TreeRows& rows, Vec log_e, Index known) {
  if (chain.has_zeros) return smoothed_in_log_space(chain, rows, std::move(log_e));
  const Index k = chain.k;
  const std::size_t states = static_cast<std::size_t>(k);
  // up: message of a row and its descendants to the row's parent; from the second pass on r_pa / up.
  Vec up(log_e.size()), now(states), logs(states), r(log_e.size()),
      out(static_cast<std::size_t>(rows.n * known));
  const Vec ones(states, 1.0);
  double norm;
  const auto block_of = [&](Index t) { return chain.block(position_of(rows.position, t)); };
  for (Index t = rows.n - 1; t >= 0; --t) {
    if (rows.back[t] == 0) continue;
    std::copy_n(log_e.data() + t * k, k, now.data());
    kernels().softmax_rows(1, k, now.data(), k, 0, &norm);
    double* const to_parent = up.data() + t * k;
    kernels().backward_step(k, ones.data(), chain.transposed.data() + block_of(t), k, 1, now.data(),
                            to_parent);
    kernels().log_each(k, to_parent, logs.data());
    double* const parent = log_e.data() + (t - rows.back[t]) * k;
    for (Index j = 0; j < k; ++j) parent[j] += logs[j];
  }
  for (Index t = 0; t < rows.n; ++t) {
    double *const own = log_e.data() + t * k, *const from_parent = up.data() + t * k;
    if (rows.back[t] == 0) {
      for (Index j = 0; j < k; ++j) own[j] += chain.log_start[j];
    } else {
      const double* const parent = r.data() + (t - rows.back[t]) * k;
      for (Index i = 0; i < k; ++i) from_parent[i] = parent[i] / from_parent[i];
      kernels().forward_step(k, from_parent, chain.transition.data() + block_of(t), k, ones.data(),
                             now.data());
      kernels().log_each(k, now.data(), logs.data());
      for (Index j = 0; j < k; ++j) own[j] += logs[j];
    }
    std::copy_n(own, k, r.data() + t * k);
    kernels().softmax_rows(1, k, r.data() + t * k, k, 0, &norm);
    std::copy_n(own, known, out.data() + t * known);
    kernels().softmax_rows(1, known, out.data() + t * known, known, 0, &norm);
  }
  return out;
}

}  // namespace bnpvi::chains
