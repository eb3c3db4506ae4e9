#include "networks/link_model.h"

#include <algorithm>
#include <cmath>

#include "foundation/special.h"

namespace bnpvi::networks {

namespace {

constexpr Index table_length = 1 << 14;  // 128 kB a table; a guess

template <class F>
double looked_up(const Vec& table, double x, F f) {
  if (x >= 0 && x < static_cast<double>(table_length)) {
    const auto i = static_cast<std::size_t>(x);
    if (static_cast<double>(i) == x) return table[i];
  }
  return f(x);
}

template <class F>
Vec tabulated(F f) {
  Vec out(table_length);
  for (Index i = 0; i < table_length; ++i) out[i] = f(static_cast<double>(i));
  return out;
}

}  // namespace

LinkModel::LinkModel(bool counts, double a, double b) : counts_(counts), a_(a), b_(b) {
  gamma_a_ = tabulated([&](double x) { return log_gamma(a_ + x); });
  if (!counts) gamma_b_ = tabulated([&](double x) { return log_gamma(b_ + x); });
  gamma_n_ = tabulated([&](double x) { return counts_ ? std::log(b_ + x) : log_gamma(a_ + b_ + x); });
}

double LinkModel::evidence(double n, double s) const {
  const auto of_a = [&](double x) { return log_gamma(a_ + x); };
  if (counts_) {
    const double rate = looked_up(gamma_n_, n, [&](double x) { return std::log(b_ + x); });
    return looked_up(gamma_a_, s, of_a) - gamma_a_[0] - s * rate - a_ * (rate - gamma_n_[0]);
  }
  const double none = std::max(0.0, n - s);
  return looked_up(gamma_a_, s, of_a) - gamma_a_[0] +
         looked_up(gamma_b_, none, [&](double x) { return log_gamma(b_ + x); }) - gamma_b_[0] -
         looked_up(gamma_n_, s + none, [&](double x) { return log_gamma(a_ + b_ + x); }) + gamma_n_[0];
}

LinkWeights LinkModel::weights(double n, double s) const {
  s = std::max(0.0, s);
  if (counts_) {
    const double rate = b_ + std::max(0.0, n);
    return {-(a_ + s) / rate, digamma(a_ + s) - std::log(rate)};
  }
  const double none = std::max(0.0, n - s), of_none = digamma(b_ + none);
  return {of_none - digamma(a_ + b_ + s + none), digamma(a_ + s) - of_none};
}

double LinkModel::mean(double n, double s) const { return (a_ + s) / ((counts_ ? b_ : a_ + b_) + n); }

double LinkModel::log_base(double y) const { return counts_ ? -log_gamma(y + 1) : 0; }

}  // namespace bnpvi::networks
