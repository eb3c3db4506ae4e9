#include "chains/trees/tree_messages.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "foundation/data.h"
#include "kernels/kernels.h"

namespace bnpvi::chains {

namespace {

// Effects of a floor on states less probable than this are ignored: a guess, far below rounding.
constexpr double irrelevant = 1e-20;

}  // namespace

TreeMessages::TreeMessages(const Chain& chain, bool log_space)
    : chain_(chain),
      log_space_(log_space),
      ones_(static_cast<std::size_t>(chain.k), 1.0),
      terms_(static_cast<std::size_t>(chain.k)),
      joint_(static_cast<std::size_t>(chain.k * chain.k)) {}

double TreeMessages::upward(const TreeRows& rows, const double* log_e, double* m, double* u) {
  const Index k = chain_.k;
  double log_z = 0;
  std::fill_n(m, rows.n * k, 0.0);
  for (Index t = rows.n - 1; t >= 0; --t) {
    double *now = m + t * k, *up = u + t * k, norm;
    for (Index j = 0; j < k; ++j) now[j] += log_e[t * k + j];
    for (Index j = 0; j < k && rows.back[t] == 0; ++j) now[j] += chain_.log_start[j];
    if (log_space_) {
      norm = log_sum_exp(k, now);
      for (Index j = 0; j < k; ++j) now[j] -= norm;
    } else {
      kernels().softmax_rows(1, k, now, k, 0, &norm);
    }
    log_z += norm;
    if (rows.back[t] == 0) continue;
    double* const parent = m + (t - rows.back[t]) * k;
    const Index block = chain_.block(position_of(rows.position, t));
    if (log_space_) {
      for (Index i = 0; i < k; ++i) {
        for (Index j = 0; j < k; ++j) terms_[j] = chain_.log_transition[block + i * k + j] + now[j];
        parent[i] += up[i] = log_sum_exp(k, terms_.data());
      }
    } else {
      kernels().backward_step(k, ones_.data(), chain_.transposed.data() + block, k, 1, now, up);
      kernels().log_each(k, up, terms_.data());
      for (Index i = 0; i < k; ++i) parent[i] += terms_[i];
    }
  }
  return log_z;
}

bool TreeMessages::step_down(Index block, const double* parent, const double* m, double* u, double* r) {
  const Index k = chain_.k;
  bool sure = true;
  for (Index i = 0; i < k; ++i) {
    sure &= u[i] > trustworthy || parent[i] < irrelevant;
    u[i] = parent[i] / u[i];
  }
  kernels().forward_step(k, u, chain_.transition.data() + block, k, m, r);
  return sure;
}

void TreeMessages::log_space_step_down(Index block, const double* parent, const double* m, const double* u,
                                       double* r, double* pair) {
  const Index k = chain_.k;
  std::fill_n(r, k, 0.0);
  std::fill(joint_.begin(), joint_.end(), 0.0);
  for (Index i = 0; i < k; ++i) {
    if (parent[i] == 0) continue;
    const double log_ratio = std::log(parent[i]) - u[i];
    for (Index j = 0; j < k; ++j) {
      const double p = std::exp(log_ratio + chain_.log_transition[block + i * k + j] + m[j]);
      joint_[i * k + j] = p;
      pair[block + i * k + j] += p;
      r[j] += p;
    }
  }
}

bool TreeMessages::downward(const TreeRows& rows, double log_z, double* log_e, const double* m, double* u,
                            const TreeCounts& to, const std::function<void(Index, const double*)>& tell) {
  const Index k = chain_.k;
  Vec r(static_cast<std::size_t>(k));
  double rest = log_z;
  bool sure = true;
  for (Index t = 0; t < rows.n && sure; ++t) {
    double *own = log_e + t * k, *up = u + t * k;
    const double *now = m + t * k, *parent = own - rows.back[t] * k;
    const bool root = rows.back[t] == 0;
    const Index block = chain_.block(position_of(rows.position, t));
    if (root) {
      for (Index j = 0; j < k; ++j) {
        r[j] = log_space_ ? std::exp(now[j]) : now[j];
        to.start[j] += r[j];
        if (r[j] > 0) rest -= r[j] * chain_.log_start[j];
        up[j] = 0;
      }
    } else if (log_space_) {
      log_space_step_down(block, parent, now, up, r.data(), to.log_space_pair);
    } else {
      sure = step_down(block, parent, now, up, r.data());
    }
    for (Index j = 0; j < k; ++j) {
      if (r[j] > 0) rest -= r[j] * own[j];
      own[j] = r[j];
    }
    if (root || !tell) continue;
    for (Index i = 0; i < k && !log_space_; ++i)
      for (Index j = 0; j < k; ++j) joint_[i * k + j] = up[i] * chain_.transition[block + i * k + j] * now[j];
    tell(t, joint_.data());
  }
  *to.entropy += rest;
  return sure;
}

double log_evidence(const Chain& chain, const TreeRows& rows, const Vec& log_e) {
  Vec r, m(log_e.size()), u(log_e.size()), start(static_cast<std::size_t>(chain.k)),
      pair(chain.log_transition.size());
  double log_z = 0;
  for (const bool log_space : {false, true}) {
    if (chain.has_zeros && !log_space) continue;
    TreeMessages messages(chain, log_space);
    log_z = messages.upward(rows, log_e.data(), m.data(), u.data());
    if (log_space) break;
    double entropy = 0;
    r = log_e;
    if (messages.downward(rows, log_z, r.data(), m.data(), u.data(), {start.data(), pair.data(), &entropy}))
      break;
  }
  return log_z;
}

void most_probable_states(const Chain& chain, const TreeRows& rows, const double* log_e, int* state) {
  const Index k = chain.k;
  Vec best(log_e, log_e + rows.n * k), up(static_cast<std::size_t>(k));
  std::vector<int> choice(static_cast<std::size_t>(rows.n * k));  // by the state of the parent
  for (Index t = rows.n - 1; t >= 0; --t) {
    const double* own = best.data() + t * k;
    if (rows.back[t] == 0) continue;
    const Index block = chain.block(position_of(rows.position, t));
    for (Index i = 0; i < k; ++i) {
      const double* p = chain.log_transition.data() + block + i * k;
      Index top = 0;
      for (Index j = 1; j < k; ++j)
        if (own[j] + p[j] > own[top] + p[top]) top = j;
      choice[t * k + i] = static_cast<int>(top);
      up[i] = own[top] + p[top];
    }
    const double highest = *std::max_element(up.begin(), up.end());
    double* const parent = best.data() + (t - rows.back[t]) * k;
    for (Index i = 0; i < k; ++i) parent[i] += up[i] - highest;
  }
  for (Index t = 0; t < rows.n; ++t) {
    double* const own = best.data() + t * k;
    if (rows.back[t] > 0) {
      state[t] = choice[t * k + state[t - rows.back[t]]];
      continue;
    }
    for (Index j = 0; j < k; ++j) own[j] += chain.log_start[j];
    state[t] = static_cast<int>(std::max_element(own, own + k) - own);
  }
}

}  // namespace bnpvi::chains
