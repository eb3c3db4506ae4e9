// The pattern of rows whose scales are hidden, and perhaps some of their cells.
#include <algorithm>
#include <cmath>
#include <optional>

#include "foundation/special.h"
#include "kernels/kernels.h"
#include "observations/expected_responses.h"
#include "observations/keeps_products.h"
#include "observations/scaled_predictive.h"
#include "observations/scaled_rows.h"
#include "observations/scaled_visit.h"

namespace bnpvi {

namespace {

constexpr Index tile_rows = 32;  // rows whose features stay in the first cache: a guess

// Reduced features: φ_0, 1, and the second moments of the observed coordinates, block by block. If several
// blocks begin with the same 1, its square is stored only once. For rows that are very far out, all but φ_0
// are divided by ρ² (bring_near). Reduced weights: those of φ_0; those of 1 and of the second moments,
// divided by −a, so that their product with features is b / a of q(u) = Gamma(a, b); and last a.
class ScaledPattern final : public MissingPattern, public KeepsProducts {
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
    if (shared_ && missing_ == 0) columns_.emplace(columns_of_blocks());
  }

  Index n_features() const override { return p_; }
  Index n_weights() const override { return p_ + 1; }

  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    visit_.forget_rows();
    for (Index first = 0; first < n; first += tile_rows) {
      const Index m = std::min(tile_rows, n - first);
      double largest[tile_rows] = {};
      if (columns_)
        write_columns(data, rows + first, m, phi + first * ld, ld, largest);
      else
        write_blocks(data, rows + first, m, phi + first * ld, ld, largest);
      for (Index i = 0; i < m; ++i) {
        double* out = phi + (first + i) * ld;
        out[0] = out[1] = 1;
        if (bring_near(1, &largest[i]) != 1) write_far(data, rows[first + i], out);
      }
    }
  }

  void weights(const double* w, double* reduced) const override {
    const double a = 1 + w[layout_.log_scale] - missing_ / 2;
    double constant = w[0] + w[ScaledLayout::count] + missing_ / 2 - 1 + stirling_remainder(a);
    double of_one = w[layout_.log_scale] - w[ScaledLayout::total];
    Vec squares;
    for (const Block& block : of_block_) {
      if (missing_ == 0) {
        if (shared_) of_one -= w[block.at];
        for (Index v = shared_; v < block.expected.n_squares(); ++v)
          reduced[block.place + v - shared_] = -w[block.at + v] / a;
        continue;
      }
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
    log_weights_of_scales(n, p_, phi, k, reduced, out);
  }

  void products_to_add(Index n, const double* phi, Index k, const double* w, double* out) const override {
    visit_clusters(k, 0, [&](Index j) { return w + j * layout_.p; });
    visit_.log_weights(n, phi, out);
  }

  void expand(const double*, const double*, double*) const override {
    throw std::logic_error("internal error: rows with scales are not linear");
  }

  void add(Index n, const double* phi, Index k, const double* r, const double* const* w,
           double* const* t) const override {
    visit_clusters(k, 1, [&](Index j) { return w[j]; });
    std::vector<SumsOfScales> sums(static_cast<std::size_t>(k));
    Vec moments(static_cast<std::size_t>(k * (p_ - 1)), 0.0);
    visit_.add(n, phi, r, sums.data(), moments.data());
    for (Index j = 0; j < k; ++j)
      if (sums[j].mass != 0) expand(w[j], visit_.density(j), sums[j], moments.data() + j * (p_ - 1), t[j]);
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
    Index at;     // position of its first second moment among the features
    Index place;  // and among the reduced features
  };
  // first: the first weight that matters. The allocation may have changed the weight of φ_0, which sums do
  // not need.
  template <class WeightsOf>
  void visit_clusters(Index k, Index first, WeightsOf weights_of) const {
    const Index p = layout_.p;
    bool same = static_cast<Index>(visited_.size()) == k * p;
    for (Index j = 0; j < k && same; ++j)
      same = std::equal(weights_of(j) + first, weights_of(j) + p, visited_.data() + j * p + first);
    if (same) return;
    Vec reduced(static_cast<std::size_t>(k * (p_ + 1)));
    visited_.resize(static_cast<std::size_t>(k * p));
    for (Index j = 0; j < k; ++j) {
      std::copy_n(weights_of(j), p, visited_.data() + j * p);
      weights(weights_of(j), reduced.data() + j * (p_ + 1));
    }
    visit_.set_clusters(k, p_, std::move(reduced));
  }

  // The columns of blocks of one column.
  Columns columns_of_blocks() const {
    Vec centre, unit;
    for (const auto& block : layout_.block) {
      centre.push_back(block->columns().centre[0]);
      unit.push_back(block->columns().unit[0]);
    }
    return Columns(centre, unit);
  }

  // Squares of n rows, at most tile_rows, that are not too large; largest_i: the largest |v_ij| of row i but
  // for the 1 that blocks share.
  void write_blocks(const Dataset& data, const Index* rows, Index n, double* phi, Index ld,
                    double* largest) const {
    for (const Block& block : of_block_) {
      const Index m = block.expected.n_seen();
      gathered_.resize(static_cast<std::size_t>(n * m));
      block.expected.gather(data_of(block, data), rows, n, gathered_.data());
      write_squares(block, n, gathered_.data(), phi, ld);
      for (Index i = 0; i < n; ++i)
        for (Index j = shared_; j < m; ++j) largest[i] = std::max(largest[i], std::abs(gathered_[i * m + j]));
    }
  }

  // The same where each block is a 1 and a column.
  void write_columns(const Dataset& data, const Index* rows, Index n, double* phi, Index ld,
                     double* largest) const {
    const Index d = columns_->size();
    gathered_.resize(static_cast<std::size_t>(n * d));
    gather(data, *columns_, rows, n, 0, gathered_.data(), d);
    const double* v = gathered_.data();
    for (Index i = 0; i < n; ++i, v += d, phi += ld)
      for (Index j = 0; j < d; ++j) {
        phi[2 + 2 * j] = v[j];
        phi[3 + 2 * j] = v[j] * v[j];
        largest[i] = std::max(largest[i], std::abs(v[j]));
      }
    phi -= n * ld;
    for (Index j = 0; j < d; ++j) {
      const Vec& cell = of_block_[j].expected.cells();
      for (Index i = 0; i < n && !cell.empty(); ++i) phi[i * ld + 3 + 2 * j] += cell[1];
    }
  }

  // Squares of v (n × m) that are not too large.
  void write_squares(const Block& block, Index n, const double* v, double* phi, Index ld) const {
    const Index m = block.expected.n_seen();
    if (!shared_) kernels().packed_outer(n, m, v, m, phi + block.place, ld);
    for (Index i = 0; i < n; ++i, v += m, phi += ld) {
      double* out = phi + block.place - shared_;
      for (Index a = shared_; shared_ && a < m; ++a)
        for (Index b = 0; b <= a; ++b) out[packed(a, b)] = v[a] * v[b];
      for (Index j = shared_; j < m && !block.expected.cells().empty(); ++j)
        out[packed(j, j)] += block.expected.cells()[j];
    }
  }

  // Squares of a row that would overflow.
  void write_far(const Dataset& data, Index row, double* phi) const {
    Vec all, own;
    for (const Block& block : of_block_) {
      own.resize(static_cast<std::size_t>(block.expected.n_seen()));
      block.expected.gather(data_of(block, data), &row, 1, own.data());
      all.insert(all.end(), own.begin(), own.end());
    }
    const double inverse = bring_near(static_cast<Index>(all.size()), all.data());
    phi[1] = inverse * inverse;
    const double* v = all.data();
    for (const Block& block : of_block_) {
      write_squares(block, 1, v, phi, p_);
      const Index m = block.expected.n_seen();
      for (Index j = shared_; j < m && !block.expected.cells().empty(); ++j)
        phi[block.place - shared_ + packed(j, j)] += block.expected.cells()[j] * (phi[1] - 1);
      v += m;
    }
  }

  Dataset data_of(const Block& block, const Dataset& data) const {
    return layout_.columns_of(static_cast<std::size_t>(&block - of_block_.data()), data);
  }

  void expand(const double* w, const ScaleDensity& q, const SumsOfScales& sum, const double* moments,
              double* t) const {
    t[0] += sum.mass;
    t[ScaledLayout::count] += sum.mass;
    t[ScaledLayout::total] += moments[0];
    double normaliser = missing_ / 2;
    Vec squares;
    for (const Block& block : of_block_) {
      const double* own = moments + block.place - 1;
      if (missing_ == 0) {
        if (shared_) t[block.at] += moments[0];
        for (Index v = shared_; v < block.expected.n_squares(); ++v) t[block.at + v] += own[v - shared_];
        continue;
      }
      const ExpectedResponses::Given given = block.expected.given(w + block.at - 1);
      normaliser += given.log_normaliser + block.expected.log_unit();
      squares.assign(static_cast<std::size_t>(shared_), moments[0]);
      squares.insert(squares.end(), own, own + block.expected.n_squares() - shared_);
      block.expected.expand(given, sum.mass, squares.data(), t + block.at - 1);
    }
    const double log_scale = sum.log_u + sum.mass * q.log_scale;  // Σ r E log u
    t[layout_.log_scale] += sum.away + sum.mass * q.log_scale;
    t[layout_.entropy] += sum.log_u + sum.mass * (q.entropy + normaliser) - missing_ / 2 * log_scale;
    const double nu = TailWeight::visited_with(w[layout_.log_scale], layout_.responses);
    double* visited = t + layout_.visited;
    visited[0] += (sum.mass * q.spread + sum.square) / q.a;
    visited[1] += sum.mass * nu;
    visited[2] += sum.mass * nu * nu;
  }

  const ScaledLayout& layout_;
  const TailWeight& tails_;
  Index shared_;  // 1 if several blocks have the same 1 as their only regressor
  std::vector<Block> of_block_;
  Index p_ = 2;
  double missing_ = 0;
  std::optional<Columns> columns_;  // of the data, if there are several blocks and no cell is missing
  mutable Vec gathered_;            // scratch
  mutable Vec visited_;             // weights of the visited clusters
  mutable ScaleVisit visit_;        // for the rows of one block, used by one thread only
};

}  // namespace

std::unique_ptr<const MissingPattern> make_scaled_pattern(const ScaledLayout& layout, const TailWeight& tails,
                                                          const MissingCells& missing) {
  return std::make_unique<ScaledPattern>(layout, tails, missing);
}

// Of the two kinds of patterns, only this one has more weights than features.
const KeepsProducts* keeping_scaled(const MissingPattern& pattern) {
  if (pattern.n_weights() == pattern.n_features()) return nullptr;
  return &static_cast<const ScaledPattern&>(pattern);
}

}  // namespace bnpvi
