#include "observations/feature_block.h"

#include <algorithm>
#include <numeric>

#include "kernels/kernels.h"
#include "observations/hidden_scales.h"
#include "observations/reduced_weights.h"

namespace bnpvi {

double cost_of_rows(const ObsModel& obs, const Dataset& data, Index rows, Index entries, Index k) {
  constexpr Index exponentials = 10;  // cost of exponentials, in products: a guess
  const Index dense = by_sparse_rows(obs, data) ? 0 : n_dense(obs);
  const Index others = obs.n_features() == dense ? 0 : data.sparse() ? entries : rows * data.d;
  return static_cast<double>((rows * (dense + exponentials) + others) * k);
}

Index stored_entries(const Dataset& data, const std::vector<Index>& rows) {
  if (!data.sparse()) return 0;
  return std::accumulate(rows.begin(), rows.end(), Index{0}, [&](Index sum, Index i) {
    return sum + static_cast<Index>(data.row_start[i + 1] - data.row_start[i]);
  });
}

FeatureSum::FeatureSum(const ObsModel& obs, const DataShape& data, Index k, bool few)
    : k_(k),
      p_(obs.n_features()),
      dense_(by_sparse_rows(obs, data) ? 0 : n_dense(obs)),
      few_(few && dense_ == p_),
      place_(few_ ? static_cast<std::size_t>(k) : 0, -1),
      sum_(few_ ? 0 : static_cast<std::size_t>(k * dense_), 0.0),
      transposed_(static_cast<std::size_t>((p_ - dense_) * k), 0.0) {}

void FeatureSum::expect_under(const Weights& weights, const std::vector<Index>* number) {
  expected_ = &weights;
  number_ = number;
}

int FeatureSum::place(int cluster) {
  if (!few_) return cluster;
  if (place_[cluster] < 0) {
    place_[cluster] = static_cast<int>(sum_.size() / static_cast<std::size_t>(p_));
    sum_.resize(sum_.size() + static_cast<std::size_t>(p_), 0.0);
  }
  return place_[cluster];
}

void FeatureSum::finish(double* t, Index first, Index end) const {
  for (Index i = dense_; i < p_; ++i)
    for (Index j = first; j < end; ++j) t[j * p_ + i] += transposed_[(i - dense_) * k_ + j];
  for (Index j = first; j < end; ++j) {
    const Index row = few_ ? place_[j] : j;
    if (row < 0) continue;
    for (Index i = 0; i < dense_; ++i) t[j * p_ + i] += sum_[row * dense_ + i];
  }
}

void set_to_sum(const std::vector<const FeatureSum*>& sums, double* t, Pool* pool) {
  constexpr Index step = 8;  // clusters in each task: a guess
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
      cells_(obs.capabilities().cells),
      sparse_(obs.capabilities().entries),
      all_incomplete_(cells_ && cells_->all_rows()),
      p_(obs.n_features()),
      sparse_path_(by_sparse_rows(obs, data)),
      dense_(sparse_path_ ? 0 : n_dense(obs)),
      ld_((p_ + 7) / 8 * 8 + 8),
      dense_ld_((dense_ + 7) / 8 * 8 + 8),
      block_rows_(std::clamp<Index>((Index{1} << 17) / p_ / 8 * 8, 64, 512)) {
  if (!cells_) return;
  const Vec none(static_cast<std::size_t>(p_), 0.0);
  prior_.resize(none.size());
  obs.weights(none.data(), prior_.data());
  if (const HiddenScales* scales = hidden_scales(obs)) scales->as_they_are(prior_.data());
}

void FeatureBlock::load(const Index* rows, Index n) {
  rows_ = rows;
  n_ = n;
  filled_ = false;
  if (sparse_path_) return;
  dense_phi_.resize(static_cast<std::size_t>(std::max(n_, block_rows_) * dense_ld_));
  if (!all_incomplete_ && sparse_)
    sparse_->dense_features(data_, rows_, n_, dense_phi_.data(), dense_ld_);
  else if (!all_incomplete_)
    obs_.features(data_, rows_, n_, dense_phi_.data(), dense_ld_);
  if (cells_) find_incomplete();
  if (dense_ == p_) return;
  sparse_->entries(data_, rows_, n_, hot_);
  if (hot_.value.empty() && ones_.size() < hot_.at.size()) ones_.resize(hot_.at.size(), 1.0);
}

const double* FeatureBlock::features() {
  if (dense_ == p_) return dense_phi_.data();
  if (!filled_) {
    phi_.resize(static_cast<std::size_t>(std::max(n_, block_rows_) * ld_));
    obs_.features(data_, rows_, n_, phi_.data(), ld_);
    for (Index i = 0; i < n_ && cells_; ++i)
      std::copy_n(dense_phi_.data() + i * dense_ld_, dense_, phi_.data() + i * ld_);
    filled_ = true;
  }
  return phi_.data();
}

FeatureBlock::RowEntries FeatureBlock::entries(Index row) const {
  if (sparse_path_) {
    const int from = data_.row_start[rows_[row]];
    return {data_.row_start[rows_[row] + 1] - from, data_.column + from, data_.value + from};
  }
  if (dense_ == p_) return {0, nullptr, nullptr};
  const int from = hot_.start[row];
  return {hot_.start[row + 1] - from, hot_.at.data() + from,
          hot_.value.empty() ? ones_.data() : hot_.value.data() + from};
}

void FeatureBlock::times(const Weights& weights, double* c) const {
  const Index k = weights.k;
  const bool dense = !sparse_path_ && any_complete_;
  if (dense && weights.packed.empty())
    kernels().product_nt(n_, k, dense_, dense_phi_.data(), dense_ld_, weights.w.data(), p_, c, k);
  else if (dense)
    kernels().product_packed(n_, k, dense_, dense_phi_.data(), dense_ld_, weights.packed.data(), c, k);
  std::vector<int> all(incomplete_.empty() ? 0 : static_cast<std::size_t>(k));
  std::iota(all.begin(), all.end(), 0);
  for (const Incomplete& g : incomplete_) {
    const KeepsProducts* keeps = static_cast<Index>(g.at.size()) == n_ ? keeping(obs_, *g.pattern) : nullptr;
    if (keeps) {
      keeps->products_to_add(n_, g.phi.data(), k, weights.w.data(), c);
      continue;
    }
    if (static_cast<Index>(g.at.size()) == n_) {
      g.pattern->products(n_, g.phi.data(), k, reduced_weights(*g.pattern, weights, all).data(), c);
      continue;
    }
    const Vec product = reduced_products(g, weights, all, 0, static_cast<Index>(g.at.size()));
    for (std::size_t i = 0; i < g.at.size(); ++i)
      std::copy_n(product.data() + static_cast<Index>(i) * k, k, c + g.at[i] * k);
  }
  if (dense_ == p_) return;
  const double* table = weights.transposed.data() + first_entry() * k;
  for (Index i = 0; i < n_; ++i) {
    if (sparse_path_) std::copy_n(weights.transposed.data(), k, c + i * k);
    const RowEntries e = entries(i);
    kernels().add_sparse_rows(e.n, k, e.at, e.value, table, k, c + i * k);
  }
}

void FeatureBlock::times_some(const Weights& weights, const std::vector<int>& chosen, Index first, Index n,
                              double* c) const {
  const Index m = static_cast<Index>(chosen.size());
  if (!sparse_path_)
    kernels().selected_product_nt(m, n, dense_, chosen.data(), weights.w.data(), p_,
                                  dense_phi_.data() + first * dense_ld_, dense_ld_, c, n);
  for (const Incomplete& g : incomplete_) {
    const auto from = std::lower_bound(g.at.begin(), g.at.end(), first),
               to = std::lower_bound(from, g.at.end(), first + n);
    if (from == to) continue;
    const Vec product = reduced_products(g, weights, chosen, from - g.at.begin(), to - g.at.begin());
    for (auto i = from; i < to; ++i)
      for (Index l = 0; l < m; ++l) c[l * n + *i - first] = product[(i - from) * m + l];
  }
  if (dense_ == p_) return;
  for (Index i = 0; i < n; ++i)
    for (Index l = 0; l < m; ++l) {
      const double sum = entries_dot(weights, chosen[l], first + i);
      c[l * n + i] = sparse_path_ ? sum : c[l * n + i] + sum;
    }
}

void FeatureBlock::times_own(const Weights& weights, const int* cluster, Index width, double* c) const {
  times_own_complete(weights, cluster, width, c);
  for (const Incomplete& g : incomplete_) times_own_incomplete(g, weights, cluster, width, c);
}

void FeatureBlock::times_own_complete(const Weights& weights, const int* cluster, Index width,
                                      double* c) const {
  for (Index i = 0; i < n_; ++i, cluster += width, c += width) {
    if (!sparse_path_)
      kernels().dot_rows(width, dense_, cluster, weights.w.data(), p_, dense_phi_.data() + i * dense_ld_, c);
    if (dense_ == p_) continue;
    for (Index l = 0; l < width; ++l) {
      const double sum = entries_dot(weights, cluster[l], i);
      c[l] = sparse_path_ ? sum : c[l] + sum;
    }
  }
}

// Includes φ_0 for sparse rows, which have no dense features.
double FeatureBlock::entries_dot(const Weights& weights, int cluster, Index row) const {
  const double* w = weights.w.data() + cluster * p_;
  double sum = sparse_path_ ? w[0] : 0;
  const RowEntries e = entries(row);
  for (Index l = 0; l < e.n; ++l) sum += e.value[l] * w[first_entry() + e.at[l]];
  return sum;
}

void FeatureBlock::add_weighted(const Responsibilities& r, FeatureSum& sum) const {
  const Index k = r.k;
  for (const Incomplete& g : incomplete_) add_incomplete(g, r, sum);
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
                                    sum.weight_.data(), dense_phi_.data() + i * dense_ld_, sum.sum_.data(),
                                    p_);
    }
    return;
  }
  const bool dense = !sparse_path_ && any_complete_;
  if (dense && !r.sparse) {
    kernels().add_product_tn(n_, k, dense_, r.value.data(), k, dense_phi_.data(), dense_ld_, sum.sum_.data(),
                             dense_);
  } else if (dense) {
    for (Index i = 0; i < n_; ++i)
      kernels().scatter_sparse_rows(r.width, dense_, r.cluster.data() + i * r.width,
                                    r.value.data() + i * r.width, dense_phi_.data() + i * dense_ld_,
                                    sum.sum_.data(), dense_);
  }
  if (dense_ < p_) add_entries(r, sum);
}

void FeatureBlock::log_predictive(const double* t, double* out) {
  obs_.log_predictive(t, features(), n_, dense_ == p_ ? dense_ld_ : ld_, out);
  Vec own;
  for (const Incomplete& g : incomplete_) {
    const Index n = static_cast<Index>(g.at.size());
    own.resize(static_cast<std::size_t>(n));
    g.pattern->log_predictive(t, g.phi.data(), n, g.pattern->n_features(), own.data());
    for (Index i = 0; i < n; ++i) out[g.at[i]] += own[i];
  }
}

void FeatureBlock::add_entries(const Responsibilities& r, FeatureSum& sum) const {
  const Index k = r.k;
  double* s = sum.transposed_.data();
  for (Index i = 0; i < n_; ++i) {
    const double* weight = r.value.data() + i * r.width;
    if (r.sparse) {
      sum.weight_.assign(static_cast<std::size_t>(k), 0.0);
      for (Index l = 0; l < r.width; ++l) sum.weight_[r.cluster[i * r.width + l]] = weight[l];
      weight = sum.weight_.data();
    }
    if (sparse_path_)
      for (Index j = 0; j < k; ++j) s[j] += weight[j];
    const RowEntries e = entries(i);
    kernels().scatter_sparse_rows(e.n, k, e.at, e.value, weight, sparse_path_ ? s + k : s, k);
  }
}

void FeatureBlock::add_rows(double* t, const double* w) const {
  Vec weight;
  for (Index i = 0; i < n_; ++i) weight.push_back(this->weight(i));
  add_weighted(weight.data(), t, w);
}

void FeatureBlock::add_weighted(const double* r, double* t, const double* w) const {
  if (!w) w = prior_.data();
  Vec own;
  for (const Incomplete& g : incomplete_) {
    own.clear();
    for (Index i : g.at) own.push_back(r[i]);
    g.pattern->add(static_cast<Index>(own.size()), g.phi.data(), 1, own.data(), &w, &t);
  }
  for (Index i = 0; i < n_; ++i) {
    if (r[i] == 0) continue;
    if (sparse_path_) t[0] += r[i];
    const double* phi = dense_phi_.data() + i * dense_ld_;
    for (Index v = 0; v < dense_; ++v) t[v] += r[i] * phi[v];
    const RowEntries e = entries(i);
    for (Index l = 0; l < e.n; ++l) t[first_entry() + e.at[l]] += r[i] * e.value[l];
  }
}

}  // namespace bnpvi
