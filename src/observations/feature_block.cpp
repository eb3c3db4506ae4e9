#include "observations/feature_block.h"

#include <algorithm>

#include "kernels/kernels.h"

namespace bnpvi {

namespace {

// True when products use the stored entries of sparse rows, without features in memory.
bool by_sparse_rows(const ObsModel& obs, const DataShape& data) { return obs.linear() && data.sparse; }

}  // namespace

Weights make_weights(const ObsModel& obs, const double* t, Index k, Pool* pool, double* evidence,
                     bool products) {
  Weights out;
  out.k = k;
  out.p = obs.n_features();
  out.w.resize(static_cast<std::size_t>(k * out.p));
  for_each_part(pool, k, [&](Index j) {
    const double* statistic = t + j * out.p;
    double* w = out.w.data() + j * out.p;
    if (evidence)
      evidence[j] = obs.evidence_and_weights(statistic, w);
    else
      obs.weights(statistic, w);
  });
  if (products && obs.linear()) out.transpose(pool);
  return out;
}

void Weights::transpose(Pool* pool) {
  constexpr Index step = 32;  // features a task: a guess
  transposed.resize(w.size());
  for_each_part(pool, (p + step - 1) / step, [&](Index part) {
    const Index from = part * step;
    kernels().transpose_rows(k, std::min(step, p - from), w.data() + from, p, transposed.data() + from * k,
                             k);
  });
}

void Weights::add_constants(const Vec& c) {
  for (Index j = 0; j < k; ++j) w[j * p] += c[j];
  if (transposed.empty()) return;
  for (Index j = 0; j < k; ++j) transposed[j] += c[j];
}

void Weights::pack(const ObsModel& obs, const DataShape& data) {
  if (by_sparse_rows(obs, data)) return;
  packed.resize(static_cast<std::size_t>(kernels().packed_size(k, p)));
  kernels().pack(k, p, w.data(), p, packed.data());
}

FeatureSum::FeatureSum(const ObsModel& obs, const DataShape& data, Index k, bool few)
    : k_(k),
      p_(obs.n_features()),
      transposed_(by_sparse_rows(obs, data)),
      few_(few && !transposed_),
      place_(few_ ? static_cast<std::size_t>(k) : 0, -1),
      sum_(few_ ? 0 : static_cast<std::size_t>(k * p_), 0.0) {}

int FeatureSum::place(int cluster) {
  if (!few_) return cluster;
  if (place_[cluster] < 0) {
    place_[cluster] = static_cast<int>(sum_.size() / static_cast<std::size_t>(p_));
    sum_.resize(sum_.size() + static_cast<std::size_t>(p_), 0.0);
  }
  return place_[cluster];
}

void FeatureSum::finish(double* t, Index first, Index end) const {
  if (transposed_) {
    for (Index i = 0; i < p_; ++i)
      for (Index j = first; j < end; ++j) t[j * p_ + i] += sum_[i * k_ + j];
    return;
  }
  for (Index j = first; j < end; ++j) {
    const Index row = few_ ? place_[j] : j;
    if (row < 0) continue;
    for (Index i = 0; i < p_; ++i) t[j * p_ + i] += sum_[row * p_ + i];
  }
}

void set_to_sum(const std::vector<const FeatureSum*>& sums, double* t, Pool* pool) {
  constexpr Index step = 8;  // clusters a task: a guess
  const Index k = sums.front()->k_, p = sums.front()->p_;
  for_each_part(pool, (k + step - 1) / step, [&](Index part) {
    const Index from = part * step, end = std::min(k, from + step);
    std::fill(t + from * p, t + end * p, 0.0);
    for (const FeatureSum* sum : sums) sum->finish(t, from, end);
  });
}

FeatureBlock::FeatureBlock(const ObsModel& obs, const Dataset& data)
    : obs_(obs),
      data_(data),
      p_(obs.n_features()),
      ld_((p_ + 7) / 8 * 8 + 8),
      block_rows_(std::clamp<Index>((Index{1} << 17) / p_ / 8 * 8, 64, 512)),
      sparse_path_(by_sparse_rows(obs, data)) {}

void FeatureBlock::load(const Index* rows, Index n) {
  rows_ = rows;
  n_ = n;
  filled_ = false;
  if (!sparse_path_) features();
}

const double* FeatureBlock::features() {
  if (!filled_) {
    phi_.resize(static_cast<std::size_t>(std::max(n_, block_rows_) * ld_));
    obs_.features(data_, rows_, n_, phi_.data(), ld_);
    filled_ = true;
  }
  return phi_.data();
}

void FeatureBlock::times(const Weights& weights, double* c) const {
  const Index k = weights.k;
  if (!sparse_path_) {
    if (weights.packed.empty())
      kernels().product_nt(n_, k, p_, phi_.data(), ld_, weights.w.data(), p_, c, k);
    else
      kernels().product_packed(n_, k, p_, phi_.data(), ld_, weights.packed.data(), c, k);
    return;
  }
  const double* constant = weights.transposed.data();
  for (Index i = 0; i < n_; ++i) {
    double* row = c + i * k;
    std::copy_n(constant, k, row);
    const int from = data_.row_start[rows_[i]], to = data_.row_start[rows_[i] + 1];
    kernels().add_sparse_rows(to - from, k, data_.column + from, data_.value + from, constant + k, k, row);
  }
}

void FeatureBlock::times_some(const Weights& weights, const std::vector<int>& chosen, Index first, Index n,
                              double* c) const {
  const Index m = static_cast<Index>(chosen.size());
  if (!sparse_path_) {
    kernels().selected_product_nt(m, n, p_, chosen.data(), weights.w.data(), p_, phi_.data() + first * ld_,
                                  ld_, c, n);
    return;
  }
  for (Index i = 0; i < n; ++i)
    for (Index l = 0; l < m; ++l) c[l * n + i] = sparse_dot(weights, chosen[l], first + i);
}

void FeatureBlock::times_own(const Weights& weights, const int* cluster, Index width, double* c) const {
  for (Index i = 0; i < n_; ++i, cluster += width, c += width) {
    if (!sparse_path_)
      kernels().dot_rows(width, p_, cluster, weights.w.data(), p_, phi_.data() + i * ld_, c);
    else
      for (Index l = 0; l < width; ++l) c[l] = sparse_dot(weights, cluster[l], i);
  }
}

double FeatureBlock::sparse_dot(const Weights& weights, int cluster, Index row) const {
  const double* w = weights.w.data() + cluster * p_;
  double sum = w[0];
  for (int e = data_.row_start[rows_[row]]; e < data_.row_start[rows_[row] + 1]; ++e)
    sum += data_.value[e] * w[1 + data_.column[e]];
  return sum;
}

void FeatureBlock::add_weighted(const Responsibilities& r, FeatureSum& sum) const {
  const Index k = r.k;
  if (sum.few_) {
    for (Index i = 0; i < n_; ++i) {
      sum.weight_.clear();
      sum.where_.clear();
      for (Index e = i * r.width; e < (i + 1) * r.width; ++e) {
        if (r.value[e] == 0) continue;
        sum.weight_.push_back(r.value[e]);
        sum.where_.push_back(sum.place(r.sparse ? r.cluster[e] : static_cast<int>(e - i * r.width)));
      }
      kernels().scatter_sparse_rows(static_cast<Index>(sum.where_.size()), p_, sum.where_.data(),
                                    sum.weight_.data(), phi_.data() + i * ld_, sum.sum_.data(), p_);
    }
    return;
  }
  double* s = sum.sum_.data();
  if (!sum.transposed_ && !r.sparse) {
    kernels().add_product_tn(n_, k, p_, r.value.data(), k, phi_.data(), ld_, s, p_);
    return;
  }
  if (!sum.transposed_) {
    for (Index i = 0; i < n_; ++i)
      kernels().scatter_sparse_rows(r.width, p_, r.cluster.data() + i * r.width, r.value.data() + i * r.width,
                                    phi_.data() + i * ld_, s, p_);
    return;
  }
  for (Index i = 0; i < n_; ++i) {
    const double* weight = r.value.data() + i * r.width;
    if (r.sparse) {
      sum.weight_.assign(static_cast<std::size_t>(k), 0.0);
      for (Index l = 0; l < r.width; ++l) sum.weight_[r.cluster[i * r.width + l]] = weight[l];
      weight = sum.weight_.data();
    }
    for (Index j = 0; j < k; ++j) s[j] += weight[j];
    const int from = data_.row_start[rows_[i]], to = data_.row_start[rows_[i] + 1];
    kernels().scatter_sparse_rows(to - from, k, data_.column + from, data_.value + from, weight, s + k, k);
  }
}

void FeatureBlock::add_weighted(const double* r, double* t) const {
  for (Index i = 0; i < n_; ++i) {
    if (r[i] == 0) continue;
    if (sparse_path_) {
      t[0] += r[i];
      for (int e = data_.row_start[rows_[i]]; e < data_.row_start[rows_[i] + 1]; ++e)
        t[1 + data_.column[e]] += r[i] * data_.value[e];
    } else {
      const double* phi = phi_.data() + i * ld_;
      for (Index v = 0; v < p_; ++v) t[v] += r[i] * phi[v];
    }
  }
}

}  // namespace bnpvi
