#include "observations/obs_product.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "observations/hidden_scales.h"
#include "observations/product_pattern.h"

namespace bnpvi {

namespace {

// φ = (1, φ_1∖0, ..., φ_M∖0), blocks of dense features first. To read or write a block's own features, the
// shared φ_0 is placed before them.
class Product final : public ObsModel,
                      public SparseEntries,
                      public ExpectedCells,
                      public HiddenScales,
                      public Gaps,
                      public BaseMeasure,
                      public ColumnUnits,
                      public LearnedPrior,
                      public RowEstimates {
 public:
  explicit Product(std::vector<ProductBlock> blocks) {
    for (ProductBlock& block : blocks) {
      const ObsModel& m = *block.model;
      const Capabilities can = m.capabilities();
      if (can.lag > 0 || (can.entries && can.entries->n_dense() != 1))
        throw std::invalid_argument("internal error: a model that cannot be a block");
      parts_.push_back({std::move(block), columns_, 0, m.n_features(), can, row_estimates_of(m)});
      columns_ += m.n_columns();
    }
    for (Part& part : parts_)
      if (part.dense()) place(part);
    dense_ = p_;
    for (Part& part : parts_)
      if (!part.dense()) place(part);
  }

  Capabilities capabilities() const override {
    Capabilities out;
    for (const Part& part : parts_) {
      if (part.can.far_rows) out.far_rows = true;
      if (part.can.wide_sums) out.wide_sums = true;
      if (part.can.entries) out.entries = this;
      if (part.can.cells) out.cells = this;
      if (part.can.scales) out.scales = this;
      if (part.can.gaps) out.gaps = this;
      if (part.can.base) out.base = this;
      if (part.can.prior) out.prior = this;
      if (part.can.units) out.units = this;
    }
    out.row_estimates = this;
    return out;
  }

  Index n_features() const override { return p_; }
  Index n_columns() const override { return columns_; }
  Index n_dense() const override { return dense_; }

  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    write_features(data, rows, n, phi, ld, false);
  }

  void dense_features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    write_features(data, rows, n, phi, ld, true);
  }

  void entries(const Dataset& data, const Index* rows, Index n, Entries& out) const override {
    std::vector<std::pair<const Part*, Entries>> each;
    for (const Part& part : parts_) {
      if (part.dense()) continue;
      each.emplace_back(&part, Entries{});
      part.can.entries->entries(part.columns_of(data), rows, n, each.back().second);
    }
    if (each.size() == 1) {
      out = std::move(each[0].second);
      return;
    }
    out.start.assign(1, 0);
    out.at.clear();
    for (Index i = 0; i < n; ++i) {
      for (const auto& [part, own] : each)
        for (int e = own.start[i]; e < own.start[i + 1]; ++e)
          out.at.push_back(own.at[e] + static_cast<int>(part->at - dense_));
      out.start.push_back(static_cast<int>(out.at.size()));
    }
  }

  Index n_cells() const override {
    Index sum = 0;
    for (const Part& part : parts_) sum += part.n_cells();
    return sum;
  }

  bool all_rows() const override {
    return std::any_of(parts_.begin(), parts_.end(),
                       [](const Part& part) { return part.can.cells && part.can.cells->all_rows(); });
  }

  void hasten(const double* t, double* w) const override {
    for (const Part& part : parts_) {
      if (!part.can.scales) continue;
      Vec own = part.read(w);
      part.can.scales->hasten(part.read(t).data(), own.data());
      part.write(own, w);
    }
  }

  void as_they_are(double* w) const override {
    for (const Part& part : parts_) {
      if (!part.can.scales) continue;
      Vec own = part.read(w);
      part.can.scales->as_they_are(own.data());
      part.write(own, w);
    }
  }

  Index n_scales() const override { return n_scales_of_parts(parts_); }
  void give_scales(const double* u, double* phi) const override { give_scales_of_parts(parts_, u, phi); }

  std::vector<IncompleteRows> incomplete_rows(const Dataset& data, const Index* rows,
                                              Index n) const override {
    return incomplete_rows_of_parts(parts_, data, rows, n);
  }

  std::unique_ptr<const MissingPattern> pattern(const MissingCells& missing) const override {
    return make_product_pattern(parts_, missing);
  }

  void log_base(const Dataset& data, const Index* rows, Index n, double* out) const override {
    std::fill_n(out, n, 0.0);
    Vec own(static_cast<std::size_t>(n));
    for (const Part& part : parts_) {
      if (!part.can.base) continue;
      part.can.base->log_base(part.columns_of(data), rows, n, own.data());
      for (Index i = 0; i < n; ++i) out[i] += own[i];
    }
  }

  std::shared_ptr<const ObsModel> learned(const double* t, Index k, PriorSteps steps,
                                          Pool* pool) const override {
    std::vector<ProductBlock> blocks;
    bool any = false;
    for (const Part& part : parts_) {
      std::shared_ptr<const ObsModel> next;
      if (part.can.prior) next = part.can.prior->learned(read(part, t, k).data(), k, steps, pool);
      any = any || next;
      blocks.push_back({part.block.name, next ? next : part.block.model});
    }
    return any ? std::make_shared<Product>(std::move(blocks)) : nullptr;
  }

  double log_hyperprior() const override {
    double sum = 0;
    for (const Part& part : parts_)
      if (part.can.prior) sum += part.can.prior->log_hyperprior();
    return sum;
  }

  double occupied_term(const double* t) const override {
    double sum = 0;
    for (const Part& part : parts_)
      if (part.can.prior) sum += part.can.prior->occupied_term(part.read(t).data());
    return sum;
  }

  bool has_occupied_term() const override {
    return std::any_of(parts_.begin(), parts_.end(), [](const Part& part) {
      return part.can.prior && part.can.prior->has_occupied_term();
    });
  }

  NamedArrays learned_fields() const override {
    return of_blocks([](const Part& part) { return prior_of(part.model()).learned_fields(); });
  }

  void re_express(const ObsModel& from, double* t) const override {
    const Product& before = same_kind<Product>(from);
    for (std::size_t m = 0; m < parts_.size(); ++m) {
      Vec own = before.parts_[m].read(t);
      units_of(parts_[m].model()).re_express(before.parts_[m].model(), own.data());
      parts_[m].write(own, t);
    }
  }

  void from_complete(const ObsModel& complete, const double* complete_t, double* t) const override {
    const Product& before = same_kind<Product>(complete);
    t[0] = complete_t[0];
    for (std::size_t m = 0; m < parts_.size(); ++m) {
      Vec own(static_cast<std::size_t>(parts_[m].p));
      complete_to_gaps(before.parts_[m].model(), before.parts_[m].read(complete_t).data(), parts_[m].model(),
                       own.data());
      parts_[m].write(own, t);
    }
  }

  double strain() const override {
    double most = 1;
    for (const Part& part : parts_) most = std::max(most, units_of(part.model()).strain());
    return most;
  }

  double log_evidence(const double* t) const override {
    double sum = 0;
    for (const Part& part : parts_) sum += part.model().log_evidence(part.read(t).data());
    return sum;
  }

  void weights(const double* t, double* w) const override { evidence_and_weights(t, w); }

  double evidence_and_weights(const double* t, double* w) const override {
    double sum = 0, constant = 0;
    for (const Part& part : parts_) {
      Vec own(static_cast<std::size_t>(part.p));
      sum += part.model().evidence_and_weights(part.read(t).data(), own.data());
      part.write(own, w);
      constant += own[0];
    }
    w[0] = constant;
    return sum;
  }

  void point_estimate(const double* t, double* mean, double* w) const override {
    estimate(t, mean, w, [](const Part& part, const double* own, double* own_mean, double* own_w) {
      part.model().point_estimate(own, own_mean, own_w);
    });
  }

  void row_estimate(const double* phi, double times, double* mean, double* w) const override {
    estimate(phi, mean, w, [=](const Part& part, const double* own, double* own_mean, double* own_w) {
      part.row_estimates->row_estimate(own, times, own_mean, own_w);
    });
  }

  void draw(const double* t, Stream& stream, double* w) const override {
    double constant = 0;
    for (const Part& part : parts_) {
      Vec own(static_cast<std::size_t>(part.p));
      part.model().draw(part.read(t).data(), stream, own.data());
      part.write(own, w);
      constant += own[0];
    }
    w[0] = constant;
  }

  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override {
    std::fill_n(out, n, 0.0);
    Vec log_p(static_cast<std::size_t>(n));
    for (const Part& part : parts_) {
      Vec own(static_cast<std::size_t>(n * part.p));
      for (Index i = 0; i < n; ++i) {
        part.read(phi + i * ld, own.data() + i * part.p);
        if (!part.can.far_rows) own[i * part.p] = 1;
      }
      part.model().log_predictive(part.read(t).data(), own.data(), n, part.p, log_p.data());
      for (Index i = 0; i < n; ++i)
        if (phi[i * ld] != 0 || !part.dense()) out[i] += log_p[i];
    }
  }

  NamedArrays posterior(const double* t, Index k) const override {
    return of_blocks([&](const Part& part) { return part.model().posterior(read(part, t, k).data(), k); });
  }

  NamedArrays mean_parameters(const double* t, Index k) const override {
    return of_blocks(
        [&](const Part& part) { return part.model().mean_parameters(read(part, t, k).data(), k); });
  }

 private:
  using Part = ProductPart;

  // Combines the mean and the weights that `of` gives for the statistic of each block.
  template <class Of>
  void estimate(const double* t, double* mean, double* w, Of of) const {
    double constant = 0;
    for (const Part& part : parts_) {
      Vec own_mean(static_cast<std::size_t>(part.p)), own(own_mean.size());
      of(part, part.read(t).data(), own_mean.data(), own.data());
      part.write(own_mean, mean);
      part.write(own, w);
      constant += own[0];
    }
    mean[0] = 1;
    w[0] = constant;
  }

  void place(Part& part) {
    part.at = p_;
    p_ += part.p - 1;
  }

  Vec read(const Part& part, const double* t, Index k) const {
    Vec own(static_cast<std::size_t>(k * part.p));
    for (Index j = 0; j < k; ++j) part.read(t + j * p_, own.data() + j * part.p);
    return own;
  }

  // Each block writes its own φ_0 first, at the place of the last feature of the block before it. Blocks are
  // therefore written from the last to the first, so that the preceding block overwrites it. Then rows that
  // are far out for one block are scaled in all blocks that support it (bring_blocks_near).
  void write_features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld,
                      bool dense_only) const {
    std::vector<const Part*> order;
    for (const Part& part : parts_)
      if (part.dense() || !dense_only) order.push_back(&part);
    std::sort(order.begin(), order.end(), [](const Part* a, const Part* b) { return a->at > b->at; });
    for (Index i = 0; i < n; ++i) phi[i * ld] = 1;
    std::vector<PlacedFeatures> placed;
    bool far = false;
    for (const Part* part : order) {
      double* first = phi + part->at - 1;
      part->model().features(part->columns_of(data), rows, n, first, ld);
      placed.push_back({part->at, part->p, part->can.far_rows, Vec(static_cast<std::size_t>(n))});
      Vec& scale = placed.back().scale;
      for (Index i = 0; i < n; ++i) scale[i] = first[i * ld];
      far = far || std::any_of(scale.begin(), scale.end(), [](double s) { return s != 1; });
    }
    if (far) bring_blocks_near(placed, n, phi, ld);
  }

  template <class F>
  NamedArrays of_blocks(F arrays) const {
    NamedArrays out;
    for (const Part& part : parts_)
      for (NamedArray& array : arrays(part)) {
        array.name = part.block.name + "." + array.name;
        out.push_back(std::move(array));
      }
    return out;
  }

  std::vector<Part> parts_;
  Index columns_ = 0, p_ = 1, dense_ = 1;
};

}  // namespace

std::unique_ptr<ObsModel> make_product(std::vector<ProductBlock> blocks) {
  return std::make_unique<Product>(std::move(blocks));
}

}  // namespace bnpvi
