#include "observations/scaled_visit.h"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.h"

namespace bnpvi {

namespace {

// If among the first rows at most one responsibility in `few_of` is not 0, sums use the nonzero ones only: a
// guess.
constexpr Index few_of = 16, rows_to_judge = 32;
constexpr Index wide =
    // number of rows that kernels treat as one, since clusters may be fewer than a vector has lanes (the
    // widest has 8).
    8;

// log ρ⁻²; 0 unless the row is very far out.
double log_near(const double* phi) { return phi[1] == 1 ? 0 : std::log(phi[1]); }

// Log weights of one row.
void write_log_weights(const double* phi, Index p, Index k, const double* reduced, const double* log_ratio,
                       double* out) {
  const double one = phi[0], near = log_near(phi);
  for (Index j = 0; j < k; ++j, reduced += p + 1)
    out[j] = one * (reduced[0] - reduced[p] * (log_ratio[j] - near));
}

// Calls f(rows, numbers, at) for groups of `wide` rows, each treated as one row, and for the remaining ones.
template <class F>
void by_wide_rows(Index n, Index k, F f) {
  const Index whole = n / wide;
  f(whole, wide * k, 0);
  if (n % wide) f(1, n % wide * k, whole * wide * k);
}

// ScaleDensity(shape) for cluster j, as this thread computed it last if the shape was the same: all chunks of
// rows are visited under the same weights. Clusters are asked for in their order.
const ScaleDensity& density_of(std::size_t j, double shape) {
  thread_local std::vector<ScaleDensity> last;
  if (j >= last.size()) last.emplace_back(shape);
  if (last[j].a != shape) last[j] = ScaleDensity(shape);
  return last[j];
}

}  // namespace

void log_weights_of_scales(Index n, Index p, const double* phi, Index k, const double* reduced, double* out) {
  kernels().product_nt(n, k, p - 1, phi + 1, p, reduced + 1, p + 1, out, k);
  kernels().log_each(n * k, out, out);
  for (Index i = 0; i < n; ++i) write_log_weights(phi + i * p, p, k, reduced, out + i * k, out + i * k);
}

void ScaleVisit::set_clusters(Index k, Index p, Vec reduced) {
  k_ = k;
  p_ = p;
  reduced_ = std::move(reduced);
  phi_ = nullptr;
  density_.clear();
  constant_.clear();
  shape_.clear();
  for (Index i = 0; i < wide; ++i)
    for (Index j = 0; j < k; ++j) {
      const double* own = reduced_.data() + j * (p + 1);
      constant_.push_back(own[0]);
      shape_.push_back(own[p]);
      if (i == 0) density_.push_back(density_of(density_.size(), own[p]));
    }
  packed_.resize(static_cast<std::size_t>(kernels().packed_size(k, p - 1)));
  kernels().pack(k, p - 1, reduced_.data() + 1, p + 1, packed_.data());
}

void ScaleVisit::multiply(Index n, const double* phi) {
  n_ = n;
  phi_ = nullptr;
  if (n * k_ > room_) {
    room_ = n * k_;
    ratio_.reset(new double[static_cast<std::size_t>(room_)]);
    log_ratio_.reset(new double[static_cast<std::size_t>(room_)]);
  }
  kernels().product_packed(n, k_, p_ - 1, phi + 1, p_, packed_.data(), ratio_.get(), k_);
}

void ScaleVisit::log_weights(Index n, const double* phi, double* out) {
  multiply(n, phi);
  by_wide_rows(n, k_, [&](Index rows, Index numbers, Index at) {
    kernels().scale_log_weights(rows, numbers, ratio_.get() + at, constant_.data(), shape_.data(),
                                log_ratio_.get() + at, out + at);
  });
  for (Index i = 0; i < n; ++i)
    if (const double* f = phi + i * p_; f[0] != 1 || f[1] != 1)
      write_log_weights(f, p_, k_, reduced_.data(), log_ratio_.get() + i * k_, out + i * k_);
  phi_ = phi;
}

void ScaleVisit::add(Index n, const double* phi, const double* r, SumsOfScales* sums, double* moments) {
  bool near = true;
  for (Index i = 0; i < n && near; ++i) near = phi[i * p_ + 1] == 1;
  const Index some = std::min(n, rows_to_judge) * k_;
  const bool few = (some - std::count(r, r + some, 0.0)) * few_of <= some;
  if (near && !few)
    add_all(n, phi, r, sums, moments);
  else
    add_entries(n, phi, r, sums, moments);
}

// For blocks without rows that are very far out.
void ScaleVisit::add_all(Index n, const double* phi, const double* r, SumsOfScales* sums, double* moments) {
  if (!knows(n, phi)) {
    multiply(n, phi);
    kernels().log_each(n * k_, ratio_.get(), log_ratio_.get());
  }
  phi_ = nullptr;  // r a / b but for a will be where the logarithms are
  double* share = log_ratio_.get();
  Vec all;
  by_wide_rows(n, k_, [&](Index rows, Index numbers, Index at) {
    all.assign(static_cast<std::size_t>(4 * numbers), 0.0);
    kernels().sum_scales(rows, numbers, r + at, ratio_.get() + at, log_ratio_.get() + at, share + at,
                         all.data());
    const double* sum = all.data();
    for (Index i = 0; i < numbers; ++i)
      sums[i % k_].add(sum[i], sum[numbers + i], sum[2 * numbers + i], sum[3 * numbers + i]);
  });
  kernels().add_product_tn(n, k_, p_ - 1, share, k_, phi + 1, p_, moments, p_ - 1);
}

void ScaleVisit::add_entries(Index n, const double* phi, const double* r, SumsOfScales* sums,
                             double* moments) const {
  const bool known = knows(n, phi);
  std::vector<int> cluster(static_cast<std::size_t>(k_));
  Vec ratio(cluster.size()), logs(cluster.size());
  for (Index i = 0; i < n; ++i, phi += p_, r += k_) {
    Index own = 0;
    for (Index j = 0; j < k_; ++j) {  // written without a branch
      cluster[own] = static_cast<int>(j);
      own += r[j] != 0;
    }
    if (known) {
      for (Index e = 0; e < own; ++e) {
        ratio[e] = ratio_[i * k_ + cluster[e]];
        logs[e] = log_ratio_[i * k_ + cluster[e]];
      }
    } else {
      kernels().dot_rows(own, p_ - 1, cluster.data(), reduced_.data() + 1, p_ + 1, phi + 1, ratio.data());
      kernels().log_each(own, ratio.data(), logs.data());
    }
    const double near = log_near(phi);
    for (Index e = 0; e < own; ++e) {
      const double mass = r[cluster[e]], u = phi[1] / ratio[e], log_u = near - logs[e];
      sums[cluster[e]].add(mass, mass * log_u, mass * (log_u - u + 1), mass * (u - 1) * (u - 1));
      ratio[e] = mass / ratio[e];
    }
    kernels().scatter_sparse_rows(own, p_ - 1, cluster.data(), ratio.data(), phi + 1, moments, p_ - 1);
  }
}

}  // namespace bnpvi
