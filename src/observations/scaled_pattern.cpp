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

// Where at most one in so many responsibilities is not 0, products are formed with these alone: a guess.
constexpr Index few_of = 4;

// Reduced features: φ_0, 1, and the second moments of the coordinates that are there, block by block, but for
// the square of the 1 that several blocks begin with; of rows far out all but φ_0 are divided by ρ²
// (bring_near). Weights likewise, those of 1 and of the second moments divided by −a, so that their product
// is b / a; and then a, of q(u) = Gamma(a, b).
class ScaledPattern final : public MissingPattern {
 public:
  ScaledPattern(const ScaledLayout& layout, const TailWeight& tails, const MissingCells& missing)
      : layout_(layout), tails_(tails), shared_(layout.block.size() > 1 ? 1 : 0) {
    auto cells = missing.begin();
    for (std::size_t b = 0; b < layout.block.size(); ++b) {
      const WishartModel& model = *layout.block[b];
      const auto end = cells + model.coordinates();
      of_block_.push_back({ExpectedResponses(model, MissingCells(cells, end)), layout.at[b], p_});
      p_ += of_block_.back().expected.n_squares() - shared_;
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
      if (m == width) {
        block.expected.gather(data_of(block, data), rows, n, v.data());
        break;
      }
      own.resize(static_cast<std::size_t>(n * m));
      block.expected.gather(data_of(block, data), rows, n, own.data());
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < m; ++j) v[i * width + from + j] = own[i * m + j];
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
      write_squares(block, n, v.data() + from, width, phi, ld);
      from += m;
    }
  }

  void weights(const double* w, double* reduced) const override {
    const double a = 1 + w[layout_.log_scale] - missing_ / 2;
    double constant = w[0] + w[ScaledLayout::count] + missing_ / 2 - 1 + stirling_remainder(a);
    double of_one = w[layout_.log_scale] - w[ScaledLayout::total];
    Vec squares;
    for (const Block& block : of_block_) {
      const ExpectedResponses::Given q = block.expected.given(w + block.at - 1);
      constant += q.log_normaliser + block.expected.log_unit();
      squares.resize(static_cast<std::size_t>(block.expected.n_squares()));
      block.expected.weights(w + block.at - 1, q, squares.data());
      if (shared_) of_one -= squares[0];
      for (std::size_t v = shared_; v < squares.size(); ++v)
        reduced[block.place + v - shared_] = -squares[v] / a;
    }
    reduced[0] = constant;
    reduced[1] = of_one / a;
    reduced[p_] = a;
  }

  void products(Index n, const double* phi, Index k, const double* reduced, double* out) const override {
    const Index p = p_ + 1;
    kernels().product_nt(n, k, p_ - 1, phi + 1, p_, reduced + 1, p, out, k);
    kernels().log_each(n * k, out, out);
    for (Index i = 0; i < n; ++i) {
      const double one = phi[i * p_], near = log_near(phi + i * p_);
      for (Index j = 0; j < k; ++j)
        out[i * k + j] = one * (reduced[j * p] - reduced[j * p + p_] * (out[i * k + j] - near));
    }
  }

  void expand(const double*, const double*, double*) const override {
    throw std::logic_error("internal error: rows with scales are not linear");
  }

  void add(Index n, const double* phi, Index k, const double* r, const double* const* w,
           double* const* t) const override {
    const Index p = p_ + 1, size = p_ - 1;
    Vec reduced(static_cast<std::size_t>(k * p));
    for (Index j = 0; j < k; ++j) weights(w[j], reduced.data() + j * p);
    std::vector<int> cluster;  // of each r that is not 0; those of row i from start[i] on
    std::vector<std::size_t> start{0};
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < k; ++j)
        if (r[i * k + j] != 0) cluster.push_back(static_cast<int>(j));
      start.push_back(cluster.size());
    }
    const std::size_t entries = cluster.size();
    const bool few = static_cast<Index>(entries) * few_of <= n * k;
    Vec ratio(entries), logs(entries), all(few ? 0 : static_cast<std::size_t>(n * k));
    if (!few) kernels().product_nt(n, k, size, phi + 1, p_, reduced.data() + 1, p, all.data(), k);
    for (Index i = 0; i < n; ++i) {
      const std::size_t from = start[i], own = start[i + 1] - from;
      if (few)
        kernels().dot_rows(static_cast<Index>(own), size, cluster.data() + from, reduced.data() + 1, p,
                           phi + i * p_ + 1, ratio.data() + from);
      for (std::size_t e = from; !few && e < from + own; ++e) ratio[e] = all[i * k + cluster[e]];
    }
    kernels().log_each(static_cast<Index>(entries), ratio.data(), logs.data());
    std::vector<Sums> sums(static_cast<std::size_t>(k));
    Vec moments(static_cast<std::size_t>(k * size), 0.0);
    std::fill(all.begin(), all.end(), 0.0);
    for (Index i = 0; i < n; ++i) {
      const double *f = phi + i * p_, near = log_near(f);
      for (std::size_t e = start[i]; e < start[i + 1]; ++e) {
        const double mass = r[i * k + cluster[e]], u = f[1] / ratio[e], log_u = near - logs[e];
        sums[cluster[e]].add(mass, u, log_u);
        ratio[e] = mass / ratio[e];
        if (!few) all[i * k + cluster[e]] = ratio[e];
      }
      if (few)
        kernels().scatter_sparse_rows(static_cast<Index>(start[i + 1] - start[i]), size,
                                      cluster.data() + start[i], ratio.data() + start[i], f + 1,
                                      moments.data(), size);
    }
    if (!few) kernels().add_product_tn(n, k, size, all.data(), k, phi + 1, p_, moments.data(), size);
    for (Index j = 0; j < k; ++j)
      if (sums[j].mass != 0) expand(w[j], reduced[j * p + p_], sums[j], moments.data() + j * size, t[j]);
  }

  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override {
    std::vector<WishartModel::StudentRows> rows;
    for (std::size_t b = 0; b < of_block_.size(); ++b) {
      const ExpectedResponses& expected = of_block_[b].expected;
      const Vec own = layout_.of_block(b, t, ScaledLayout::count);
      rows.push_back(layout_.block[b]->student_rows(own.data(), expected.seen()));
    }
    const ScaledPredictive predictive(std::move(rows), tails_.posterior(layout_.sums(t)));
    Vec row;
    for (Index i = 0; i < n; ++i) {
      const double* f = phi + i * ld;
      row.assign(1, f[1]);
      for (const Block& block : of_block_) {
        if (shared_) row.push_back(f[1]);
        row.insert(row.end(), f + block.place, f + block.place + block.expected.n_squares() - shared_);
      }
      out[i] = predictive(row.data());
    }
  }

 private:
  struct Block {
    ExpectedResponses expected;
    Index at;     // of its second moments among the features, the first
    Index place;  // and among the reduced ones
  };
  // Over rows in a cluster, u standing for its expectation a / b.
  struct Sums {
    double mass = 0, log_u = 0, away = 0, square = 0;  // Σ r; Σ r log u, log u − u + 1, (u − 1)²

    void add(double r, double u, double log) {
      mass += r;
      log_u += r * log;
      away += r * (log - u + 1);
      square += r * (u - 1) * (u - 1);
    }
  };

  // log ρ⁻², 0 of all rows but those far out.
  static double log_near(const double* phi) { return phi[1] == 1 ? 0 : std::log(phi[1]); }

  void write_squares(const Block& block, Index n, const double* v, Index ldv, double* phi, Index ld) const {
    const Index m = block.expected.n_seen();
    if (!shared_) kernels().packed_outer(n, m, v, ldv, phi + block.place, ld);
    for (Index i = 0; i < n; ++i, v += ldv, phi += ld) {
      for (Index a = shared_, at = block.place; shared_ && a < m; ++a)
        for (Index b = 0; b <= a; ++b) phi[at++] = v[a] * v[b];
      for (Index j = shared_; j < m && !block.expected.cells().empty(); ++j)
        phi[block.place + packed(j, j) - shared_] += block.expected.cells()[j] * phi[1];
    }
  }

  Dataset data_of(const Block& block, const Dataset& data) const {
    return layout_.columns_of(static_cast<std::size_t>(&block - of_block_.data()), data);
  }

  void expand(const double* w, double a, const Sums& sum, const double* moments, double* t) const {
    const ScaleDensity q(a);
    t[0] += sum.mass;
    t[ScaledLayout::count] += sum.mass;
    t[ScaledLayout::total] += moments[0];
    double normaliser = missing_ / 2;
    Vec squares;
    for (const Block& block : of_block_) {
      const ExpectedResponses::Given given = block.expected.given(w + block.at - 1);
      normaliser += given.log_normaliser + block.expected.log_unit();
      squares.assign(static_cast<std::size_t>(shared_), moments[0]);
      const double* own = moments + block.place - 1;
      squares.insert(squares.end(), own, own + block.expected.n_squares() - shared_);
      block.expected.expand(given, sum.mass, squares.data(), t + block.at - 1);
    }
    const double log_scale = sum.log_u + sum.mass * q.log_scale;  // Σ r E log u
    t[layout_.log_scale] += sum.away + sum.mass * q.log_scale;
    t[layout_.entropy] += sum.log_u + sum.mass * (q.entropy + normaliser) - missing_ / 2 * log_scale;
    const double nu = TailWeight::visited_with(w[layout_.log_scale], layout_.responses);
    double* visited = t + layout_.visited;
    visited[0] += (sum.mass * q.spread + sum.square) / a;
    visited[1] += sum.mass * nu;
    visited[2] += sum.mass * nu * nu;
  }

  const ScaledLayout& layout_;
  const TailWeight& tails_;
  Index shared_;  // 1 where several blocks have the same 1 as their only regressor
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
