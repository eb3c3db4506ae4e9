#include "inference/start/seeding_rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "inference/start/seeding.h"
#include "kernels/kernels.h"
#include "observations/feature_block.h"

namespace bnpvi {

namespace {

constexpr Index max_features = Index{1} << 22;  // doubles, 32 MB: a guess
constexpr Index rows_of_one_cluster = 4096;     // a guess

double without_rounding(double divergence, double size) {
  return divergence > 1e-12 * (1 + std::abs(size)) ? divergence : 0;
}

class DenseRows final : public SeedRows {
 public:
  DenseRows(const ObsModel& obs, const Dataset& data, std::vector<Index> rows, const Subsample& chosen,
            const double* fill, double sharpness)
      : SeedRows(obs, std::move(rows), chosen),
        estimates_(row_estimates_of(obs)),
        phi_(static_cast<std::size_t>(n() * p_)),
        sharpness_(sharpness) {
    if (obs_.capabilities().cells)
      fill_in(data, fill);
    else
      obs_.features(data, rows_.data(), n(), phi_.data(), p_);
  }

  void add(Index i, double weight, double* t) const override {
    const int first = 0;
    kernels().scatter_sparse_rows(1, p_, &first, &weight, row(i), t, p_);
  }

  void scores(Index k, const Vec& w, Vec& score) const override {
    score.resize(static_cast<std::size_t>(n() * k));
    kernels().product_nt(n(), k, p_, phi_.data(), p_, w.data(), p_, score.data(), k);
  }

  void look_at(Index n, Pool& pool) override {
    mean_.resize(static_cast<std::size_t>(n * p_));
    self_.resize(static_cast<std::size_t>(n));
    w_.resize(static_cast<std::size_t>(p_));
    unused_.resize(w_.size());
    for (Index i = 0; i < n; ++i) {
      if (i % 64 == 0) pool.poll();
      estimates_->row_estimate(row(i), sharpness_, mean_.data() + i * p_, w_.data());
      kernels().product_nt(1, 1, p_, mean_.data() + i * p_, p_, w_.data(), p_, &self_[i], 1);
    }
  }

  void divergences(Index i, Vec& out) override {
    estimates_->row_estimate(row(i), sharpness_, unused_.data(), w_.data());
    kernels().product_nt(static_cast<Index>(self_.size()), 1, p_, mean_.data(), p_, w_.data(), p_, out.data(),
                         1);
    for (std::size_t l = 0; l < self_.size(); ++l) out[l] = without_rounding(self_[l] - out[l], self_[l]);
  }

  void become_centres(Pool& pool) override {
    centre_w_.resize(phi_.size());
    unused_.resize(static_cast<std::size_t>(p_));
    for (Index i = 0; i < n(); ++i) {
      if (i % 64 == 0) pool.poll();
      estimates_->row_estimate(row(i), 1, unused_.data(), centre_w_.data() + i * p_);
    }
  }

  void divergences_to(const SeedRows& centres, Vec& out) override {
    const Index n = static_cast<Index>(self_.size()), k = centres.n();
    const Vec& w = static_cast<const DenseRows&>(centres).centre_w_;
    out.resize(static_cast<std::size_t>(n * k));
    kernels().product_nt(n, k, p_, mean_.data(), p_, w.data(), p_, out.data(), k);
    for (Index l = 0; l < n; ++l)
      for (Index j = 0; j < k; ++j) out[l * k + j] = without_rounding(self_[l] - out[l * k + j], self_[l]);
  }

 private:
  const double* row(Index i) const { return phi_.data() + i * p_; }

  void fill_in(const Dataset& data, const double* fill) {
    FeatureBlock block(obs_, data);
    for (Index from = 0; from < n(); from += block.n()) {
      block.load(rows_.data() + from, std::min(block.block_rows(), n() - from));
      block.complete(fill);
      for (Index i = 0; i < block.n(); ++i)
        std::copy_n(block.features() + i * block.ld(), p_, phi_.data() + (from + i) * p_);
    }
  }

  std::shared_ptr<const RowEstimates> estimates_;
  Vec phi_, mean_, self_, w_, unused_, centre_w_;
  double sharpness_;
};

// Rows of counts x under pseudo-counts λ with sum Λ; row a has n_a tokens. With Δ_v = log(λ_v + x_v) − log
// λ_v, which is zero where x_v is zero, the divergence of row a to row b is
//   n_a / (Λ + n_a) [⟨λ + x_a, Δ_a − Δ_b⟩ − (Λ + n_a) log((Λ + n_a) / (Λ + n_b))].
class CountRows final : public SeedRows {
 public:
  // The sharpness s multiplies counts; estimates from s x under λ are the same as from x under λ / s.
  CountRows(const ObsModel& obs, const Dataset& data, std::vector<Index> rows, const Subsample& chosen,
            double sharpness)
      : SeedRows(obs, std::move(rows), chosen),
        data_(data),
        lambda_(sharpened(obs.capabilities().tokens->pseudo_counts(), 1 / sharpness)) {
    total_ = std::accumulate(lambda_.begin(), lambda_.end(), 0.0);
  }

  void add(Index i, double weight, double* t) const override {
    t[0] += weight;
    for (int e = from(i); e < to(i); ++e) t[1 + data_.column[e]] += weight * data_.value[e];
  }

  void scores(Index k, const Vec& w, Vec& score) const override {
    Vec by_term(w.size());
    for (Index j = 0; j < k; ++j)
      for (Index v = 0; v < p_; ++v) by_term[v * k + j] = w[j * p_ + v];
    score.resize(static_cast<std::size_t>(n() * k));
    for (Index i = 0; i < n(); ++i) {
      double* out = score.data() + i * k;
      std::copy_n(by_term.data(), k, out);
      kernels().add_sparse_rows(to(i) - from(i), k, data_.column + from(i), data_.value + from(i),
                                by_term.data() + k, k, out);
    }
  }

  void look_at(Index n, Pool& pool) override {
    own_.resize(static_cast<std::size_t>(n));
    length_.resize(own_.size());
    delta_.assign(lambda_.size(), 0.0);
    for (Index i = 0; i < n; ++i) {
      if (i % 64 == 0) pool.poll();
      length_[i] = length_of(i);
      own_[i] = raise(*this, i) + against(i);
      lower(*this, i);
    }
  }

  void divergences(Index i, Vec& out) override { divergences_to_row(*this, i, out.data(), 1); }

  void become_centres(Pool&) override {}

  void divergences_to(const SeedRows& centres, Vec& out) override {
    out.resize(own_.size() * static_cast<std::size_t>(centres.n()));
    for (Index j = 0; j < centres.n(); ++j)
      divergences_to_row(static_cast<const CountRows&>(centres), j, out.data() + j, centres.n());
  }

 private:
  int from(Index i) const { return data_.row_start[rows_[i]]; }
  int to(Index i) const { return data_.row_start[rows_[i] + 1]; }

  double length_of(Index i) const { return std::accumulate(data_.value + from(i), data_.value + to(i), 0.0); }

  // out[step × l] = divergence of row l to row i of `other`.
  void divergences_to_row(const CountRows& other, Index i, double* out, Index step) {
    const double prior_part = raise(other, i), log_total = std::log(total_ + other.length_of(i));
    for (Index l = 0; l < static_cast<Index>(own_.size()); ++l) {
      const double total = total_ + length_[l], scale = length_[l] / total;
      const double gain = own_[l] - prior_part - against(l) - total * (std::log(total) - log_total);
      out[l * step] = without_rounding(scale * gain, scale * own_[l]);
    }
    lower(other, i);
  }

  // Sets delta_ to Δ of row i of `other`; returns ⟨λ, Δ⟩.
  double raise(const CountRows& other, Index i) {
    const Dataset& data = other.data_;
    double sum = 0;
    for (int e = other.from(i); e < other.to(i); ++e) {
      const double lambda = lambda_[data.column[e]];
      delta_[data.column[e]] = std::log1p(data.value[e] / lambda);
      sum += lambda * delta_[data.column[e]];
    }
    return sum;
  }

  void lower(const CountRows& other, Index i) {
    for (int e = other.from(i); e < other.to(i); ++e) delta_[other.data_.column[e]] = 0;
  }

  // Returns ⟨x_l, Δ⟩.
  double against(Index l) const {
    double sum[2] = {0, 0};
    for (int e = from(l); e < to(l); ++e) sum[e & 1] += data_.value[e] * delta_[data_.column[e]];
    return sum[0] + sum[1];
  }

  const Dataset& data_;
  const Vec lambda_;
  double total_;
  Vec own_, length_, delta_;
};

// The first m of the numbers 0 .. n − 1 after draw_to_front(); only numbers that were moved take memory.
std::vector<Index> drawn_to_front(Index n, Index m, Stream& stream) {
  std::vector<Index> out;
  std::unordered_map<Index, Index> moved;
  const auto at = [&](Index i) {
    const auto found = moved.find(i);
    return found == moved.end() ? i : found->second;
  };
  for (Index i = 0; i < m; ++i) {
    const Index j = i + stream.index(n - i), mine = at(i);
    out.push_back(at(j));
    moved[j] = mine;
  }
  return out;
}

}  // namespace

Subsample choose_subsample(const ObsModel& obs, Index n, const double* mass, Index k, Stream& stream) {
  Subsample out;
  const Index most = std::max<Index>(64, max_features / obs.n_features());
  const bool few = k == 1 && !obs.capabilities().cells;
  const Index kept = std::min(n, few ? std::min(most, rows_of_one_cluster) : most);
  out.position = drawn_to_front(n, kept, stream);
  for (Index i : out.position) out.mass.push_back(mass ? mass[i] : 1);
  const double total = mass ? std::accumulate(mass, mass + n, 0.0) : static_cast<double>(n),
               mine = std::accumulate(out.mass.begin(), out.mass.end(), 0.0);
  if (mine > 0) out.scale = total / mine;
  return out;
}

Subsample all_of(Vec mass) {
  Subsample out;
  out.position.resize(mass.size());
  std::iota(out.position.begin(), out.position.end(), Index{0});
  out.mass = std::move(mass);
  return out;
}

SeedRows::SeedRows(const ObsModel& obs, std::vector<Index> rows, const Subsample& chosen)
    : obs_(obs), p_(obs.n_features()), rows_(std::move(rows)), mass_(chosen.mass), scale_(chosen.scale) {}

std::unique_ptr<SeedRows> make_seed_rows(const ObsModel& obs, const Dataset& data, std::vector<Index> rows,
                                         const Subsample& chosen, const double* fill, double sharpness) {
  if (data.sparse() && obs.capabilities().tokens)
    return std::make_unique<CountRows>(obs, data, std::move(rows), chosen, sharpness);
  return std::make_unique<DenseRows>(obs, data, std::move(rows), chosen, fill, sharpness);
}

}  // namespace bnpvi
