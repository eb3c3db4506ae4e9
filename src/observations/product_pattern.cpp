#include "observations/product_pattern.h"

#include <algorithm>
#include <stdexcept>

#include "kernels/kernels.h"
#include "observations/hidden_scales.h"

namespace bnpvi {

Dataset ProductPart::columns_of(const Dataset& data) const {
  if (data.sparse()) throw std::invalid_argument("this observation model needs dense data");
  Dataset out;
  out.n = data.n;
  out.d = model().n_columns();
  out.dense = data.dense + column * data.n;
  return out;
}

void ProductPart::read(const double* all, double* own) const {
  own[0] = all[0];
  std::copy_n(all + at, p - 1, own + 1);
}

Vec ProductPart::read(const double* all) const {
  Vec own(static_cast<std::size_t>(p));
  read(all, own.data());
  return own;
}

Index n_scales_of_parts(const std::vector<ProductPart>& parts) {
  Index sum = 0;
  for (const ProductPart& part : parts)
    if (part.can.scales) sum += part.can.scales->n_scales();
  return sum;
}

void give_scales_of_parts(const std::vector<ProductPart>& parts, const double* u, double* phi) {
  for (const ProductPart& part : parts) {
    if (!part.can.scales) continue;
    Vec own = part.read(phi);
    part.can.scales->give_scales(u, own.data());
    part.write(own, phi);
    u += part.can.scales->n_scales();
  }
}

void bring_blocks_near(const std::vector<PlacedFeatures>& blocks, Index n, double* phi, Index ld) {
  for (Index i = 0; i < n; ++i) {
    double least = 1;
    for (const PlacedFeatures& block : blocks) least = std::min(least, block.scale[i]);
    phi[i * ld] = least;
    for (const PlacedFeatures& block : blocks) {
      if (!block.far_rows || block.scale[i] == least) continue;
      double* own = phi + i * ld + block.at;
      for (Index v = 0; v < block.p - 1; ++v) own[v] *= least / block.scale[i];
    }
  }
}

namespace {

class ProductPattern final : public MissingPattern {
 public:
  ProductPattern(const std::vector<ProductPart>& parts, const MissingCells& missing) {
    auto cells = missing.begin();
    for (const ProductPart& part : parts) {
      const auto end = cells + part.n_cells();
      if (part.dense()) {
        Piece piece{&part, nullptr, p_, part.p, n_weights_, part.p};
        if (part.can.cells && (part.can.cells->all_rows() || std::find(cells, end, true) != end)) {
          piece.pattern = part.can.cells->pattern(MissingCells(cells, end));
          piece.p = piece.pattern->n_features();
          piece.n_weights = piece.pattern->n_weights();
        }
        p_ += piece.p - 1;
        n_weights_ += piece.n_weights - 1;
        pieces_.push_back(std::move(piece));
      }
      cells = end;
    }
  }

  Index n_features() const override { return p_; }
  Index n_weights() const override { return n_weights_; }

  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    std::vector<PlacedFeatures> placed;
    Vec own;
    for (const Piece& piece : pieces_) {
      own.resize(static_cast<std::size_t>(n * piece.p));
      const Dataset columns = piece.part->columns_of(data);
      if (piece.pattern)
        piece.pattern->features(columns, rows, n, own.data(), piece.p);
      else
        piece.part->model().features(columns, rows, n, own.data(), piece.p);
      placed.push_back({piece.at, piece.p, piece.part->can.far_rows, {}});
      for (Index i = 0; i < n; ++i) {
        placed.back().scale.push_back(own[i * piece.p]);
        std::copy_n(own.data() + i * piece.p + 1, piece.p - 1, phi + i * ld + piece.at);
      }
    }
    bring_blocks_near(placed, n, phi, ld);
  }

  void weights(const double* w, double* reduced) const override {
    reduced[0] = w[0];
    for (const Piece& piece : pieces_) {
      if (!piece.pattern) {
        std::copy_n(w + piece.part->at, piece.p - 1, reduced + piece.weights_at);
        continue;
      }
      Vec own(static_cast<std::size_t>(piece.n_weights)), all = piece.part->read(w);
      all[0] = 0;
      piece.pattern->weights(all.data(), own.data());
      reduced[0] += own[0];
      std::copy(own.begin() + 1, own.end(), reduced + piece.weights_at);
    }
  }

  // If a block hides something in which the products are not linear, they are computed block by block.
  void products(Index n, const double* phi, Index k, const double* reduced, double* out) const override {
    if (n_weights_ == p_) return MissingPattern::products(n, phi, k, reduced, out);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < k; ++j) out[i * k + j] = phi[i * p_] * reduced[j * n_weights_];
    Vec sum(static_cast<std::size_t>(n * k));
    for (const Piece& piece : pieces_) {
      if (piece.n_weights == piece.p) {
        kernels().product_nt(n, k, piece.p - 1, phi + piece.at, p_, reduced + piece.weights_at, n_weights_,
                             sum.data(), k);
      } else {
        Vec weights;
        for (Index j = 0; j < k; ++j) {
          const double* own = reduced + j * n_weights_ + piece.weights_at;
          weights.push_back(0);
          weights.insert(weights.end(), own, own + piece.n_weights - 1);
        }
        piece.pattern->products(n, rows_of(piece, n, phi).data(), k, weights.data(), sum.data());
      }
      for (Index i = 0; i < n * k; ++i) out[i] += sum[i];
    }
  }

  void add(Index n, const double* phi, Index k, const double* r, const double* const* w,
           double* const* t) const override {
    if (n_weights_ == p_) return MissingPattern::add(n, phi, k, r, w, t);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < k; ++j) t[j][0] += r[i * k + j] * phi[i * p_];
    for (const Piece& piece : pieces_) {
      const Index at = piece.part->at, p = piece.part->p;
      std::vector<Vec> own_t(static_cast<std::size_t>(k), Vec(static_cast<std::size_t>(p), 0.0)), own_w;
      std::vector<double*> to;
      std::vector<const double*> from;
      for (Index j = 0; j < k; ++j) own_w.push_back(piece.part->read(w[j]));
      for (Index j = 0; j < k; ++j) to.push_back(own_t[j].data()), from.push_back(own_w[j].data());
      if (piece.pattern)
        piece.pattern->add(n, rows_of(piece, n, phi).data(), k, r, from.data(), to.data());
      else
        for (Index j = 0; j < k; ++j)
          for (Index i = 0; i < n; ++i)
            for (Index v = 1; v < p && r[i * k + j] != 0; ++v)
              to[j][v] += r[i * k + j] * phi[i * p_ + piece.at + v - 1];
      for (Index j = 0; j < k; ++j)
        for (Index v = 1; v < p; ++v) t[j][at + v - 1] += to[j][v];
    }
  }

  void expand(const double* w, const double* reduced, double* t) const override {
    t[0] += reduced[0];
    for (const Piece& piece : pieces_) {
      double* out = t + piece.part->at;
      if (!piece.pattern) {
        for (Index v = 0; v < piece.p - 1; ++v) out[v] += reduced[piece.at + v];
        continue;
      }
      Vec own(static_cast<std::size_t>(piece.part->p));
      piece.pattern->expand(piece.part->read(w).data(), piece.read(reduced).data(), own.data());
      for (Index v = 0; v < piece.part->p - 1; ++v) out[v] += own[v + 1];
    }
  }

  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override {
    std::fill_n(out, n, 0.0);
    Vec log_p(static_cast<std::size_t>(n)), own(log_p.size());
    for (const Piece& piece : pieces_) {
      const ObsModel& model = piece.part->model();
      own.clear();
      for (Index i = 0; i < n; ++i) {
        const Vec row = piece.read(phi + i * ld);
        own.insert(own.end(), row.begin(), row.end());
        if (!piece.part->can.far_rows) own[i * piece.p] = 1;
      }
      const Vec statistic = piece.part->read(t);
      if (piece.pattern)
        piece.pattern->log_predictive(statistic.data(), own.data(), n, piece.p, log_p.data());
      else
        model.log_predictive(statistic.data(), own.data(), n, piece.p, log_p.data());
      for (Index i = 0; i < n; ++i) out[i] += log_p[i];
    }
  }

 private:
  struct Piece {
    const ProductPart* part;
    std::shared_ptr<const MissingPattern> pattern;  // null where the block lacks no cell
    Index at, p;                                    // position and number of its reduced features
    Index weights_at, n_weights;                    // position and number of their weights

    Vec read(const double* all) const {
      Vec own{all[0]};
      own.insert(own.end(), all + at, all + at + p - 1);
      return own;
    }
  };

  // The reduced features of rows for one block, with φ_0 first.
  Vec rows_of(const Piece& piece, Index n, const double* phi) const {
    Vec out;
    for (Index i = 0; i < n; ++i) {
      const Vec row = piece.read(phi + i * p_);
      out.insert(out.end(), row.begin(), row.end());
    }
    return out;
  }

  std::vector<Piece> pieces_;
  Index p_ = 1, n_weights_ = 1;
};

}  // namespace

std::vector<IncompleteRows> incomplete_rows_of_parts(const std::vector<ProductPart>& parts,
                                                     const Dataset& data, const Index* rows, Index n) {
  std::vector<std::vector<IncompleteRows>> of_parts;
  std::vector<std::vector<int>> group;  // for each row, its group in each part; −1: nothing is missing
  for (const ProductPart& part : parts) {
    of_parts.emplace_back();
    if (part.can.cells) of_parts.back() = part.can.cells->incomplete_rows(part.columns_of(data), rows, n);
    group.emplace_back(static_cast<std::size_t>(n), -1);
    for (std::size_t g = 0; g < of_parts.back().size(); ++g)
      for (Index i : of_parts.back()[g].at) group.back()[i] = static_cast<int>(g);
  }
  Index cells_of_all = 0;
  for (const ProductPart& part : parts) cells_of_all += part.n_cells();
  MissingCells missing(static_cast<std::size_t>(cells_of_all));
  IncompleteGroups all;
  for (Index i = 0; i < n; ++i) {
    bool any = false;
    auto own = missing.begin();
    for (std::size_t m = 0; m < parts.size(); ++m) {
      const Index cells = parts[m].n_cells();
      const int g = group[m][i];
      any = any || g >= 0;
      if (g >= 0)
        std::copy(of_parts[m][g].missing.begin(), of_parts[m][g].missing.end(), own);
      else
        std::fill_n(own, cells, false);
      own += cells;
    }
    if (any) all.add(i, missing);
  }
  return all.take();
}

std::unique_ptr<const MissingPattern> make_product_pattern(const std::vector<ProductPart>& parts,
                                                           const MissingCells& missing) {
  return std::make_unique<ProductPattern>(parts, missing);
}

}  // namespace bnpvi
