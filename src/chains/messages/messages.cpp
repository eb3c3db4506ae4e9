#include "chains/messages/messages.h"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.h"

namespace bnpvi::chains {

double log_sum_exp(Index n, const double* x) {
  const double top = *std::max_element(x, x + n);
  double sum = 0;
  for (Index i = 0; i < n; ++i) sum += std::exp(x[i] - top);
  return top + std::log(sum);
}

Chain::Chain(Index states, Vec log_first, Vec log_next, bool zeros)
    : k(states),
      has_zeros(zeros),
      log_start(std::move(log_first)),
      log_transition(std::move(log_next)),
      transposed(log_transition.size()) {
  for (double& x : log_start) x = std::max(x, not_possible);
  for (double& x : log_transition) x = std::max(x, not_possible);
  const auto p_of = [zeros](double x) {
    return zeros && x == not_possible ? 0 : std::exp(std::max(x, lowest));
  };
  for (double x : log_start) start.push_back(p_of(x));
  for (double x : log_transition) transition.push_back(p_of(x));
  for (Index p = 0; p < positions(); ++p)
    for (Index i = 0; i < k; ++i)
      for (Index j = 0; j < k; ++j) transposed[block(p) + j * k + i] = transition[block(p) + i * k + j];
}

void make_potentials(Index n, Index k, double* log_e, double* e, bool log_space) {
  constexpr Index at_once = 64;
  constexpr double vanishing = -1e4;  // whose exponential is 0
  double log_norm[at_once];
  for (Index m; n > 0; n -= m, log_e += m * k, e += m * k) {
    m = std::min(n, at_once);
    for (Index t = 0; t < m; ++t) {
      double* const c = log_e + t * k;
      const double top = *std::max_element(c, c + k);
      for (Index j = 0; j < k; ++j) {
        c[j] -= top;
        e[t * k + j] = is_possible(c[j]) ? std::max(c[j], Chain::lowest) : vanishing;
        if (!log_space) c[j] = e[t * k + j];
      }
    }
    kernels().softmax_rows(m, k, e, k, 0, log_norm);
    for (Index t = 0; t < m; ++t)
      for (Index j = 0; j < k; ++j) log_e[t * k + j] -= log_norm[t];
  }
}

bool forward(const Chain& chain, ChainRows rows, const double* e, double* alpha, double* scale) {
  const Index k = chain.k;
  double least = 1;
  for (Index t = 0; t < rows.n; ++t, e += k, alpha += k) {
    if (!rows.first[t]) {
      scale[t] =
          kernels().forward_step(k, alpha, chain.transition.data() + rows.block(chain, t), k, e, alpha + k);
    } else {
      scale[t] = 0;
      for (Index j = 0; j < k; ++j) scale[t] += alpha[k + j] = chain.start[j] * e[j];
      for (Index j = 0; j < k; ++j) alpha[k + j] /= scale[t];
    }
    least = std::min(least, scale[t]);
  }
  return least > trustworthy;
}

void backward(const Chain& chain, ChainRows rows, const double* alpha, const double* scale, double* log_e,
              double* e, double* beta, double* start_count, double& entropy) {
  const Index k = chain.k;
  double sum = 0;
  for (Index t = rows.n - 1; t >= 0; --t) {
    const double* a = alpha + (t + 1) * k;
    double* r = log_e + t * k;
    double expected = 0;
    for (Index j = 0; j < k; ++j) {
      const double p = a[j] * beta[j];
      expected += p * r[j];
      r[j] = p;
    }
    sum += std::log(scale[t]) - expected;
    if (!rows.first[t]) {
      kernels().backward_step(k, beta, chain.transposed.data() + rows.block(chain, t), k, 1 / scale[t],
                              e + t * k, beta);
      continue;
    }
    for (Index j = 0; j < k; ++j) {
      sum -= r[j] * std::max(chain.log_start[j], Chain::lowest);
      start_count[j] += r[j];
      e[t * k + j] = 0;
      beta[j] = 1;
    }
  }
  entropy += sum;
}

void log_space_forward(const Chain& chain, ChainRows rows, const double* log_e, double* log_alpha,
                       double* log_scale) {
  const Index k = chain.k;
  Vec into(static_cast<std::size_t>(k)), now(static_cast<std::size_t>(k));
  for (Index t = 0; t < rows.n; ++t) {
    const double* before = log_alpha + t * k;
    const double* log_p = chain.log_transition.data() + rows.block(chain, t);
    for (Index j = 0; j < k; ++j) {
      for (Index i = 0; i < k; ++i) into[i] = before[i] + log_p[i * k + j];
      now[j] = (rows.first[t] ? chain.log_start[j] : log_sum_exp(k, into.data())) + log_e[t * k + j];
    }
    log_scale[t] = log_sum_exp(k, now.data());
    for (Index j = 0; j < k; ++j) log_alpha[(t + 1) * k + j] = now[j] - log_scale[t];
  }
}

void log_space_backward(const Chain& chain, ChainRows rows, const double* log_alpha, const double* log_scale,
                        double* log_e, double* log_beta, double* start_count, double* pair, double& entropy,
                        const std::function<void(Index, const double*)>& tell) {
  const Index k = chain.k;
  Vec nu(static_cast<std::size_t>(k)), from(static_cast<std::size_t>(k)),
      joint(static_cast<std::size_t>(k * k));
  for (Index t = rows.n - 1; t >= 0; --t) {
    double* r = log_e + t * k;
    entropy += log_scale[t];
    for (Index j = 0; j < k; ++j) {
      nu[j] = log_beta[j] + r[j] - log_scale[t];
      const double p = std::exp(log_alpha[(t + 1) * k + j] + log_beta[j]);
      if (p > 0) entropy -= p * r[j];
      r[j] = p;
    }
    for (Index j = 0; j < k && rows.first[t]; ++j) {
      if (r[j] > 0) entropy -= r[j] * chain.log_start[j];
      start_count[j] += r[j];
      log_beta[j] = 0;
    }
    if (rows.first[t]) continue;
    const Index block = rows.block(chain, t);
    for (Index i = 0; i < k; ++i) {
      for (Index j = 0; j < k; ++j) {
        from[j] = chain.log_transition[block + i * k + j] + nu[j];
        joint[i * k + j] = std::exp(log_alpha[t * k + i] + from[j]);
        pair[block + i * k + j] += joint[i * k + j];
      }
      log_beta[i] = log_sum_exp(k, from.data());
    }
    if (tell) tell(t, joint.data());
  }
}

double add_transitions(const Chain& chain, const std::vector<Vec>& without_factor, const Vec& log_space,
                       Vec& pair) {
  double entropy = 0;
  for (std::size_t i = 0; i < log_space.size(); ++i) {
    double sum = 0;
    for (const Vec& part : without_factor) sum += part[i];
    const double fast = sum * chain.transition[i], log_p = chain.log_transition[i];
    entropy -= fast * std::max(log_p, Chain::lowest) + log_space[i] * log_p;
    pair[i] += fast + log_space[i];
  }
  return entropy;
}

void subtract_tops(Index n, Index k, double* log_e) {
  for (; n > 0; --n, log_e += k) {
    const double top = *std::max_element(log_e, log_e + k);
    for (Index j = 0; j < k; ++j) log_e[j] -= top;
  }
}

void viterbi(const Chain& chain, Index n, const double* log_e, int* path) {
  const Index k = chain.k;
  std::vector<int> from(static_cast<std::size_t>(n * k));
  Vec best(static_cast<std::size_t>(k)), next(static_cast<std::size_t>(k));
  const double first = *std::max_element(log_e, log_e + k);
  for (Index j = 0; j < k; ++j) best[j] = chain.log_start[j] + (log_e[j] - first);
  for (Index t = 1; t < n; ++t) {
    int* back = from.data() + t * k;
    for (Index j = 0; j < k; ++j) next[j] = best[0] + chain.log_transition[j], back[j] = 0;
    for (Index i = 1; i < k; ++i) {
      const double* p = chain.log_transition.data() + i * k;
      for (Index j = 0; j < k; ++j) {
        const double x = best[i] + p[j];
        if (x > next[j]) next[j] = x, back[j] = static_cast<int>(i);
      }
    }
    const double* e = log_e + t * k;
    const double top = *std::max_element(e, e + k);
    for (Index j = 0; j < k; ++j) next[j] += e[j] - top;
    best.swap(next);
  }
  path[n - 1] = static_cast<int>(std::max_element(best.begin(), best.end()) - best.begin());
  for (Index t = n - 1; t > 0; --t) path[t - 1] = from[t * k + path[t]];
}

}  // namespace bnpvi::chains
