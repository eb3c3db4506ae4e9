#include "chains/messages/sparse_messages.h"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.h"

namespace bnpvi::chains {

struct ScaledNumbers {
  static constexpr double one = 1;
  static double times(double a, double b) { return a * b; }
  static double over(double a, double b) { return a / b; }
  static double probability(double x) { return x; }
  static double log(double x) { return std::log(x); }
  static double sum(Index n, const double* x) {
    double out = 0;
    for (Index i = 0; i < n; ++i) out += x[i];
    return out;
  }
  static bool trusted(double x) { return x > trustworthy; }
  static const double* potentials(const double* e, const double*) { return e; }
  static const double* start(const Chain& chain) { return chain.start.data(); }
  static const double* transition(const Chain& chain) { return chain.transition.data(); }
  static double log_start(const Chain& chain, Index k) { return std::max(chain.log_start[k], Chain::lowest); }

  // Σ_j x_j row_j[to]
  static double into(Index n, const double* x, const double* const* row, Index to, double*) {
    double out = 0;
    for (Index j = 0; j < n; ++j) out += x[j] * row[j][to];
    return out;
  }
  // Σ_l row[to_l] x_l; joint_l = share · row[to_l] x_l, which is also added to count[to_l].
  static double out_of(Index n, const double* row, const int* to, const double* x, double share,
                       double* joint, double* count) {
    double out = 0;
    for (Index l = 0; l < n; ++l) {
      const double term = row[to[l]] * x[l];
      out += term;
      joint[l] = share * term;
      count[to[l]] += joint[l];
    }
    return out;
  }
  // product = factor ∘ Σ_j x_j P(from_j, ·)
  static void forward_all(const Chain& chain, Index n, const double* x, const int* from, const double* factor,
                          double* sum, double* product) {
    kernels().weigh_rows(n, chain.k, from, x, chain.transition.data(), chain.k, factor, sum, product);
  }
  // sum = Σ_l P(·, to_l) x_l, product = factor ∘ sum
  static void backward_all(const Chain& chain, Index n, const double* x, const int* to, const double* factor,
                           double* sum, double* product) {
    kernels().weigh_rows(n, chain.k, to, x, chain.transposed.data(), chain.k, factor, sum, product);
  }
};

struct LogNumbers {
  static constexpr double one = 0;
  static double times(double a, double b) { return a + b; }
  static double over(double a, double b) { return a - b; }
  static double probability(double x) { return std::exp(x); }
  static double log(double x) { return x; }
  static double sum(Index n, const double* x) { return log_sum_exp(n, x); }
  static bool trusted(double) { return true; }
  static const double* potentials(const double*, const double* log_e) { return log_e; }
  static const double* start(const Chain& chain) { return chain.log_start.data(); }
  static const double* transition(const Chain& chain) { return chain.log_transition.data(); }
  static double log_start(const Chain& chain, Index k) { return chain.log_start[k]; }

  static double into(Index n, const double* x, const double* const* row, Index to, double* terms) {
    for (Index j = 0; j < n; ++j) terms[j] = x[j] + row[j][to];
    return log_sum_exp(n, terms);
  }
  static double out_of(Index n, const double* row, const int* to, const double* x, double share,
                       double* joint, double* count) {
    for (Index l = 0; l < n; ++l) joint[l] = row[to[l]] + x[l];
    const double out = log_sum_exp(n, joint);
    for (Index l = 0; l < n; ++l) {
      joint[l] = std::exp(share + joint[l]);
      count[to[l]] += joint[l];
    }
    return out;
  }
  static void forward_all(const Chain& chain, Index n, const double* x, const int* from, const double* factor,
                          double* sum, double* product) {
    weigh(chain, n, x, from, chain.k, 1, factor, sum, product);
  }
  static void backward_all(const Chain& chain, Index n, const double* x, const int* to, const double* factor,
                           double* sum, double* product) {
    weigh(chain, n, x, to, 1, chain.k, factor, sum, product);
  }

 private:
  static void weigh(const Chain& chain, Index n, const double* x, const int* listed, Index listed_step,
                    Index step, const double* factor, double* sum, double* product) {
    Vec terms(static_cast<std::size_t>(n));
    for (Index k = 0; k < chain.k; ++k) {
      for (Index j = 0; j < n; ++j)
        terms[j] = x[j] + chain.log_transition[listed[j] * listed_step + k * step];
      sum[k] = log_sum_exp(n, terms.data());
      product[k] = factor[k] + sum[k];
    }
  }
};

template <class Numbers>
SparseMessages<Numbers>::SparseMessages(const Chain& chain, Index width)
    : chain_(chain),
      ready_(static_cast<std::size_t>(chain.k)),
      score_(ready_.size()),
      into_(ready_.size()),
      beta_(static_cast<std::size_t>(width)),
      nu_(beta_.size()),
      terms_(beta_.size()),
      row_(beta_.size()),
      joint_(static_cast<std::size_t>(width * width)) {}

// out_l = Σ_j α_{t−1}(j) P(j, l), with j in C_{t−1} and l in C_t.
template <class Numbers>
void SparseMessages<Numbers>::enter(const SparseRows& rows, Index t, const double* alpha, double* out) {
  const Index width = rows.width;
  const int* to = rows.state + t * width;
  if (rows.first[t]) {
    for (Index l = 0; l < width; ++l) out[l] = Numbers::start(chain_)[to[l]];
    return;
  }
  const int* from = to - width;
  for (Index j = 0; j < width; ++j) row_[j] = Numbers::transition(chain_) + from[j] * chain_.k;
  const double* a = alpha + (t - 1) * width;
  for (Index l = 0; l < width; ++l) out[l] = Numbers::into(width, a, row_.data(), to[l], terms_.data());
}

// ready_l = e_t(l) Σ_j α_{t−1}(j) P(j, l) for all states l of row t.
template <class Numbers>
void SparseMessages<Numbers>::enter_all(const SparseRows& rows, Index t, const double* alpha,
                                        const double* e) {
  const Index before = (t - 1) * rows.width;
  if (!rows.first[t])
    return Numbers::forward_all(chain_, rows.width, alpha + before, rows.state + before, e, into_.data(),
                                ready_.data());
  const double* start = Numbers::start(chain_);
  for (Index k = 0; k < chain_.k; ++k) ready_[k] = Numbers::times(start[k], e[k]);
}

template <class Numbers>
void SparseMessages<Numbers>::take_largest(const SparseRows& rows, Index t, const Vec& score,
                                           const double* log_all, bool anew) {
  int* state = rows.state + t * rows.width;
  double* log_e = rows.log_e + t * rows.width;
  if (anew)
    kernels().largest_rows(1, chain_.k, score.data(), chain_.k, rows.width, state);
  else
    kernels().largest_from(chain_.k, score.data(), rows.width, state);
  std::sort(state, state + rows.width);
  for (Index l = 0; l < rows.width; ++l) log_e[l] = log_all[state[l]];
}

// Divides x by its sum and returns the sum.
template <class Numbers>
double SparseMessages<Numbers>::normalise(double* x) const {
  const Index width = static_cast<Index>(nu_.size());
  const double sum = Numbers::sum(width, x);
  for (Index l = 0; l < width; ++l) x[l] = Numbers::over(x[l], sum);
  return sum;
}

template <class Numbers>
bool SparseMessages<Numbers>::forward(const SparseRows& rows, Index from, Index m, const double* e,
                                      double* alpha, double* scale) {
  const Index width = rows.width;
  const double* potential = Numbers::potentials(e, rows.log_e);
  for (Index t = from; t < from + m; ++t) {
    double* a = alpha + t * width;
    enter(rows, t, alpha, a);
    for (Index l = 0; l < width; ++l) a[l] = Numbers::times(a[l], potential[t * width + l]);
    scale[t] = normalise(a);
    if (!Numbers::trusted(scale[t])) return false;
  }
  return true;
}

template <class Numbers>
bool SparseMessages<Numbers>::choose_forward(const SparseRows& rows, Index from, Index m,
                                             const double* log_all, const double* e_all, double* alpha) {
  const Index width = rows.width, k = chain_.k;
  const double* potential = Numbers::potentials(e_all, log_all);
  for (Index t = from; t < from + m; ++t) {
    enter_all(rows, t, alpha, potential + (t - from) * k);
    take_largest(rows, t, ready_, log_all + (t - from) * k, true);
    double* a = alpha + t * width;
    for (Index l = 0; l < width; ++l) a[l] = ready_[rows.state[t * width + l]];
    if (!Numbers::trusted(normalise(a))) return false;
  }
  return true;
}

template <class Numbers>
bool SparseMessages<Numbers>::choose_backward(const SparseRows& rows, Index from, Index m,
                                              const double* log_all, const double* e_all,
                                              const double* alpha) {
  const Index width = rows.width, k = chain_.k;
  const double* potential = Numbers::potentials(e_all, log_all);
  for (Index t = from + m - 1; t >= from; --t) {
    const double* e = potential + (t - from) * k;
    const int* state = rows.state + t * width;
    enter_all(rows, t, alpha, e);
    const bool ends = t + 1 == rows.n || rows.first[t + 1];
    if (ends)
      std::fill(into_.begin(), into_.end(), Numbers::one);
    else
      Numbers::backward_all(chain_, width, nu_.data(), state + width, ready_.data(), into_.data(),
                            score_.data());
    take_largest(rows, t, ends ? ready_ : score_, log_all + (t - from) * k, false);
    for (Index l = 0; l < width; ++l) terms_[l] = (ends ? ready_ : score_)[state[l]];
    if (!Numbers::trusted(Numbers::sum(width, terms_.data()))) return false;
    for (Index l = 0; l < width; ++l) nu_[l] = Numbers::times(e[state[l]], into_[state[l]]);
    normalise(nu_.data());
  }
  return true;
}

template <class Numbers>
void SparseMessages<Numbers>::backward(const SparseRows& rows, Index from, Index m, const double* e,
                                       const double* alpha, const double* scale, double* r, Counts& counts,
                                       const std::function<void(Index, const double*)>& tell) {
  const Index width = rows.width;
  const double *potential = Numbers::potentials(e, rows.log_e), *p = Numbers::transition(chain_);
  for (Index t = from + m - 1; t >= from; --t) {
    if (t + 1 == rows.n || rows.first[t + 1]) std::fill(beta_.begin(), beta_.end(), Numbers::one);
    const int* state = rows.state + t * width;
    const double *a = alpha + t * width, *log_e = rows.log_e + t * width;
    counts.entropy += Numbers::log(scale[t]);
    for (Index l = 0; l < width; ++l) {
      nu_[l] = Numbers::over(Numbers::times(potential[t * width + l], beta_[l]), scale[t]);
      const double x = Numbers::probability(Numbers::times(a[l], beta_[l]));
      if (x > 0) counts.entropy -= x * log_e[l];
      r[t * width + l] = x;
    }
    if (rows.first[t]) {
      for (Index l = 0; l < width; ++l) {
        const double x = r[t * width + l];
        if (x > 0) counts.entropy -= x * Numbers::log_start(chain_, state[l]);
        counts.start[state[l]] += x;
      }
      continue;
    }
    for (Index j = 0; j < width; ++j) {
      const Index before = state[j - width];
      beta_[j] = Numbers::out_of(width, p + before * chain_.k, state, nu_.data(), a[j - width],
                                 joint_.data() + j * width, counts.pair + before * chain_.k);
    }
    if (tell) tell(t, joint_.data());
  }
}

template class SparseMessages<ScaledNumbers>;
template class SparseMessages<LogNumbers>;

}  // namespace bnpvi::chains
