// Compares the inner loops of the engine, in every version that this machine runs, with plain loops: a
// program without R, for machines on which R does not run here (tools/elsewhere.R). It ends with 1 and says
// so where they differ.
#include <cmath>
#include <cstdio>
#include <vector>

#include "kernels/kernels.h"

using bnpvi::Index;
using bnpvi::Kernels;

namespace {

/// The largest difference from the plain loops that was seen, relative to max(1, |value|).
double worst = 0;

void compare(double value, double plain) {
  const double scale = std::fmax(1, std::fabs(plain));
  const double off = std::fabs(value - plain) / scale;
  worst = std::isnan(off) ? HUGE_VAL : std::fmax(worst, off);
}

/// Numbers between −1 and 1 that are the same on every machine.
std::vector<double> numbers(Index n) {
  static unsigned state = 1;
  std::vector<double> x(static_cast<std::size_t>(n));
  for (double& v : x) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<double>(state >> 8) / 8388608.0 - 1;
  }
  return x;
}

/// Matrices A (n × p) and B (k × p), and all that is compared for them.
void compare_shape(const Kernels& kernel, Index n, Index k, Index p) {
  const std::vector<double> a = numbers(n * p), b = numbers(k * p), r = numbers(n * k);
  std::vector<double> c(static_cast<std::size_t>(n * k)), packed_c(c.size());
  kernel.product_nt(n, k, p, a.data(), p, b.data(), p, c.data(), k);
  std::vector<double> packed(static_cast<std::size_t>(kernel.packed_size(k, p)));
  kernel.pack(k, p, b.data(), p, packed.data());
  kernel.product_packed(n, k, p, a.data(), p, packed.data(), packed_c.data(), k);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < k; ++j) {
      double sum = 0;
      for (Index l = 0; l < p; ++l) sum += a[i * p + l] * b[j * p + l];
      compare(c[i * k + j], sum);
      compare(packed_c[i * k + j], sum);
    }

  std::vector<double> s(static_cast<std::size_t>(k * p));
  kernel.add_product_tn(n, k, p, r.data(), k, a.data(), p, s.data(), p);
  for (Index j = 0; j < k; ++j)
    for (Index l = 0; l < p; ++l) {
      double sum = 0;
      for (Index i = 0; i < n; ++i) sum += r[i * k + j] * a[i * p + l];
      compare(s[j * p + l], sum);
    }

  std::vector<double> w = r, log_norm(static_cast<std::size_t>(n));
  kernel.softmax_rows(n, k, w.data(), k, 0, log_norm.data());
  for (Index i = 0; i < n; ++i) {
    double sum = 0;
    for (Index j = 0; j < k; ++j) sum += std::exp(r[i * k + j]);
    compare(log_norm[i], std::log(sum));
    for (Index j = 0; j < k; ++j) compare(w[i * k + j], std::exp(r[i * k + j]) / sum);
  }

  std::vector<double> x = numbers(n * p), logs(x.size()), gammas(x.size()), digammas(x.size());
  for (double& v : x) v = 3.001 + 3 * v;
  kernel.log_each(n * p, x.data(), logs.data());
  kernel.log_gamma_each(n * p, x.data(), gammas.data());
  kernel.digamma_each(n * p, x.data(), digammas.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    compare(logs[i], std::log(x[i]));
    compare(gammas[i], std::lgamma(x[i]));
    const double h =
        1e-4;  // the derivative of log Γ by a quotient of differences, with its error of order h⁴
    const double slope = (8 * (std::lgamma(x[i] + h) - std::lgamma(x[i] - h)) -
                          (std::lgamma(x[i] + 2 * h) - std::lgamma(x[i] - 2 * h))) /
                         (12 * h);
    if (x[i] > 0.1) compare(1e-4 * digammas[i], 1e-4 * slope);
  }

  std::vector<double> before = numbers(k), out(before.size()), e(before.size());
  for (double& v : before) v += 1.5;
  const std::vector<double> square = numbers(k * k);
  std::vector<double> transitions = square;
  for (double& v : transitions) v += 1.5;
  for (Index j = 0; j < k; ++j) e[j] = 1 + std::fabs(square[j]);
  const double scale = kernel.forward_step(k, before.data(), transitions.data(), k, e.data(), out.data());
  double total = 0;
  std::vector<double> plain(before.size());
  for (Index j = 0; j < k; ++j) {
    for (Index i = 0; i < k; ++i) plain[j] += before[i] * transitions[i * k + j];
    total += plain[j] *= e[j];
  }
  compare(scale, total);
  for (Index j = 0; j < k; ++j) compare(out[j], plain[j] / total);
}

/// Calls compare_shape() with the stack 16 · depth bytes further down, and so at every place that the next
/// vector of 64 bytes may have.
void compare_at(int depth, const Kernels& kernel, Index n, Index k, Index p) {
  volatile char room[16];
  room[0] = static_cast<char>(depth);
  if (depth > 0)
    compare_at(depth - 1, kernel, n, k, p);
  else
    compare_shape(kernel, n, k, p);
  room[1] = room[0];
}

}  // namespace

int main() {
  bool same = true;
  for (const char* version : {"base", "avx2", "avx512"}) {
    const Kernels* kernel = bnpvi::kernels_named(version);
    if (kernel == nullptr) continue;
    worst = 0;
    for (Index n : {1, 7, 64})
      for (Index k : {1, 5, 8, 33})
        for (Index p : {1, 3, 16, 21})
          for (int depth = 0; depth < 8; ++depth) compare_at(depth, *kernel, n, k, p);
    const bool good = worst < 1e-11;
    std::printf("kernels %s: largest difference from plain loops %.1e%s\n", version, worst,
                good ? "" : ", too large");
    same = same && good;
  }
  return same ? 0 : 1;
}
