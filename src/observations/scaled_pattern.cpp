// Rows whose scales are hidden, and perhaps some of their cells.
#include <algorithm>
#include <cmath>

#include "foundation/special.h"
#include "kernels/kernels.h"
#include "observations/expected_responses.h"
#include "observations/scaled_predictive.h"
#include "observations/scaled_rows.h"

namespace bnpvi {

namespace {

// Reduced features: φ_0, 1, and the second moments of the coordinates that are there, block by block; of rows
// far out all but φ_0 are divided by ρ² (bring_near). Weights likewise, those of 1 and of the second moments
// divided by −a, so that their product is b / a; and then a, of q(u) = Gamma(a, b).
class ScaledPattern final : public MissingPattern {
 public:
  ScaledPattern(const ScaledLayout& layout, const TailWeight& tails, const MissingCells& missing)
      : layout_(layout), tails_(tails) {
    auto cells = missing.begin();
    for (std::size_t b = 0; b < layout.block.size(); ++b) {
      const WishartModel& model = *layout.block[b];
      const auto end = cells + model.coordinates();
      of_block_.push_back({ExpectedResponses(model, MissingCells(cells, end)), layout.at[b], p_});
      p_ += of_block_.back().expected.n_squares();
      missing_ += static_cast<double>(of_block_.back().expected.n_missing());
      cells = end;
    }
  }

  Index n_features() const override { return p_; }
  Index n_weights() const override { return p_ + 1; }

  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    Index width = 0;
    for (const Block& block : of_block_) width += block.expected.n_seen();
    Vec v(static_cast<std::size_t>(n * width)), own;
    Index from = 0;
    for (const Block& block : of_block_) {
      const Index m = block.expected.n_seen();
      own.resize(static_cast<std::size_t>(n * m));
      block.expected.gather(data_of(block, data), rows, n, own.data());
      for (Index i = 0; i < n; ++i) std::copy_n(own.data() + i * m, m, v.data() + i * width + from);
      from += m;
    }
    for (Index i = 0; i < n; ++i) {
      const double inverse = bring_near(width, v.data() + i * width);
      phi[i * ld] = 1;
      phi[i * ld + 1] = inverse * inverse;
    }
    from = 0;
    for (const Block& block : of_block_) {
      const Index m = block.expected.n_seen();
      kernels().packed_outer(n, m, v.data() + from, width, phi + block.place, ld);
      for (Index i = 0; i < n && !block.expected.cells().empty(); ++i)
        for (Index j = 0; j < m; ++j)
          phi[i * ld + block.place + packed(j, j)] += block.expected.cells()[j] * phi[i * ld + 1];
      from += m;
    }
  }

  void weights(const double* w, double* reduced) const override {
    const double a = 1 + w[layout_.log_scale] - missing_ / 2;
    double constant = w[0] + w[ScaledLayout::count] + missing_ / 2 - 1 + stirling_remainder(a);
    for (const Block& block : of_block_) {
      const ExpectedResponses::Given q = block.expected.given(w + block.at - 1);
      constant += q.log_normaliser + block.expected.log_unit();
      block.expected.weights(w + block.at - 1, q, reduced + block.place);
      for (Index v = 0; v < block.expected.n_squares(); ++v) reduced[block.place + v] /= -a;
    }
    reduced[0] = constant;
    reduced[1] = (w[layout_.log_scale] - w[ScaledLayout::total]) / a;
    reduced[p_] = a;
  }

  void products(Index n, const double* phi, Index k, const double* reduced, double* out) const override {
    Vec logs(static_cast<std::size_t>(n * k));
    kernels().product_nt(n, k, p_ - 1, phi + 1, p_, reduced + 1, p_ + 1, logs.data(), k);
    kernels().log_each(n * k, logs.data(), logs.data());
    for (Index i = 0; i < n; ++i) {
      const double *f = phi + i * p_, near = f[1] == 1 ? 0 : std::log(f[1]);
      for (Index j = 0; j < k; ++j) {
        const double* w = reduced + j * (p_ + 1);
        out[i * k + j] = f[0] * (w[0] - w[p_] * (logs[i * k + j] - near));
      }
    }
  }

  void expand(const double*, const double*, double*) const override {
    throw std::logic_error("internal error: rows with scales are not linear");
  }

  void add(Index n, const double* phi, Index k, const double* r, const double* const* w,
           double* const* t) const override {
    const Index p = p_ + 1;
    Vec reduced(static_cast<std::size_t>(k * p)), scaled(static_cast<std::size_t>(n * k)), ratio;
    for (Index j = 0; j < k; ++j) weights(w[j], reduced.data() + j * p);
    kernels().product_nt(n, k, p_ - 1, phi + 1, p_, reduced.data() + 1, p, scaled.data(), k);
    for (Index i = 0; i < n * k; ++i)
      if (r[i] != 0) ratio.push_back(scaled[i]);
    Vec logs(ratio.size());
    kernels().log_each(static_cast<Index>(ratio.size()), ratio.data(), logs.data());
    std::vector<Sums> sums(static_cast<std::size_t>(k));
    std::size_t next = 0;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < k; ++j) {
        double& out = scaled[i * k + j];
        const double mass = r[i * k + j];
        if (mass == 0) {
          out = 0;
          continue;
        }
        const double u = 1 / ratio[next], log_u = -logs[next];
        ++next;
        out = mass * u;
        sums[j].mass += mass;
        sums[j].log_u += mass * log_u;
        sums[j].away += mass * (log_u - u + 1);
      }
    Vec moments(static_cast<std::size_t>(k * (p_ - 1)), 0.0);
    kernels().add_product_tn(n, k, p_ - 1, scaled.data(), k, phi + 1, p_, moments.data(), p_ - 1);
    for (Index j = 0; j < k; ++j)
      expand(w[j], reduced[j * p + p_], sums[j], moments.data() + j * (p_ - 1), t[j]);
  }

  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override {
    std::vector<WishartModel::StudentRows> rows;
    for (std::size_t b = 0; b < of_block_.size(); ++b) {
      const ExpectedResponses& expected = of_block_[b].expected;
      const Vec own = layout_.of_block(b, t, ScaledLayout::count);
      rows.push_back(layout_.block[b]->student_rows(own.data(), expected.seen()));
    }
    const ScaledPredictive predictive(std::move(rows), tails_.posterior(layout_.sums(t)));
    for (Index i = 0; i < n; ++i) out[i] = predictive(phi + i * ld + 1);
  }

 private:
  struct Block {
    ExpectedResponses expected;
    Index at;     // of its second moments among the features, the first
    Index place;  // and among the reduced ones
  };
  // Over rows in a cluster, u standing for its expectation a / b.
  struct Sums {
    double mass = 0, log_u = 0, away = 0;  // Σ r; Σ r log u, log u − u + 1
  };

  Dataset data_of(const Block& block, const Dataset& data) const {
    return layout_.columns_of(static_cast<std::size_t>(&block - of_block_.data()), data);
  }

  void expand(const double* w, double a, const Sums& sum, const double* moments, double* t) const {
    const ScaleDensity q(a);
    t[0] += sum.mass;
    t[ScaledLayout::count] += sum.mass;
    t[ScaledLayout::total] += moments[0];
    double normaliser = missing_ / 2;
    for (const Block& block : of_block_) {
      const ExpectedResponses::Given given = block.expected.given(w + block.at - 1);
      normaliser += given.log_normaliser + block.expected.log_unit();
      block.expected.expand(given, sum.mass, moments + block.place - 1, t + block.at - 1);
    }
    const double log_scale = sum.log_u + sum.mass * q.log_scale;  // Σ r E log u
    t[layout_.log_scale] += sum.away + sum.mass * q.log_scale;
    t[layout_.entropy] += sum.log_u + sum.mass * (q.entropy + normaliser) - missing_ / 2 * log_scale;
  }

  const ScaledLayout& layout_;
  const TailWeight& tails_;
  std::vector<Block> of_block_;
  Index p_ = 2;
  double missing_ = 0;
};

}  // namespace

std::unique_ptr<const MissingPattern> make_scaled_pattern(const ScaledLayout& layout, const TailWeight& tails,
                                                          const MissingCells& missing) {
  return std::make_unique<ScaledPattern>(layout, tails, missing);
}

}  // namespace bnpvi
