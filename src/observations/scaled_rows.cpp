#include "observations/scaled_rows.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "foundation/special.h"
#include "kernels/kernels.h"
#include "observations/hidden_scales.h"
#include "observations/partly_observed.h"
#include "observations/scaled_predictive.h"
#include "observations/shaped_columns.h"

namespace bnpvi {

namespace {

class ScaledRows final : public ObsModel,
                         public ExpectedCells,
                         public HiddenScales,
                         public Gaps,
                         public ColumnUnits {
 public:
  ScaledRows(std::vector<std::shared_ptr<const WishartModel>> blocks, const ShapePrior& tails, bool gaps,
             bool by_columns)
      : layout_(std::move(blocks)),
        tails_(tails, layout_.responses),
        gaps_(gaps),
        by_columns_(by_columns),
        none_(static_cast<std::size_t>(layout_.p), 0.0),
        prior_(none_.size()) {
    weights_of(none_.data(), prior_.data());
  }

  Index n_features() const override { return layout_.p; }
  Index n_columns() const override {
    Index sum = 0;
    for (const auto& block : layout_.block) sum += block->n_columns();
    return sum;
  }
  Capabilities capabilities() const override {
    Capabilities out;
    out.lag = layout_.block[0]->capabilities().lag;
    out.cells = this;
    out.scales = this;
    out.units = this;
    if (gaps_) out.gaps = this;
    return out;
  }

  // Features of rows with u = 1; rows that lack cells have zeros throughout.
  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    const Index p = layout_.p;
    const auto whole = make_scaled_pattern(layout_, tails_, none_missing());
    Vec reduced(static_cast<std::size_t>(n * whole->n_features()));
    whole->features(data, rows, n, reduced.data(), whole->n_features());
    for (Index i = 0; i < n; ++i) {
      const double* own = reduced.data() + i * whole->n_features();
      double* f = phi + i * ld;
      std::fill_n(f, p, 0.0);
      if (std::any_of(own, own + whole->n_features(), [](double x) { return std::isnan(x); })) continue;
      f[0] = f[ScaledLayout::count] = 1;
      // Several blocks share the square of their 1 (make_scaled_pattern).
      double* to = f + ScaledLayout::total;
      const double one = *++own;
      *to++ = one;
      ++own;
      const bool several = layout_.block.size() > 1;
      for (const auto& block : layout_.block) {
        const Index m = block->coordinates(), there = m * (m + 1) / 2 - several;
        if (several) *to++ = one;
        to = std::copy_n(own, there, to);
        own += there;
      }
    }
  }

  Index n_cells() const override { return layout_.coordinates; }
  bool all_rows() const override { return true; }

  std::vector<IncompleteRows> incomplete_rows(const Dataset& data, const Index* rows,
                                              Index n) const override {
    MissingCells missing = none_missing();
    if (!gaps_) {
      std::vector<Index> all(static_cast<std::size_t>(n));
      std::iota(all.begin(), all.end(), Index{0});
      return {{missing, all}};
    }
    IncompleteGroups groups;
    std::vector<Vec> v;
    for (std::size_t b = 0; b < layout_.block.size(); ++b) {
      v.emplace_back(static_cast<std::size_t>(n * layout_.block[b]->coordinates()));
      layout_.block[b]->gather_coordinates(layout_.columns_of(b, data), rows, n, v.back().data());
    }
    for (Index i = 0; i < n; ++i) {
      auto cell = missing.begin();
      for (std::size_t b = 0; b < v.size(); ++b) {
        const Index m = layout_.block[b]->coordinates();
        for (Index j = 0; j < m; ++j) *cell++ = std::isnan(v[b][i * m + j]);
      }
      groups.add(i, missing);
    }
    return groups.take();
  }

  std::unique_ptr<const MissingPattern> pattern(const MissingCells& missing) const override {
    bool regressor = false, response = false;
    auto cell = missing.begin();
    for (const auto& block : layout_.block)
      for (Index j = 0; j < block->coordinates(); ++j, ++cell)
        (j < block->regressors() ? regressor : response) |= j < block->regressors() ? *cell : !*cell;
    if (regressor || !response) return nothing_observed();
    return make_scaled_pattern(layout_, tails_, missing);
  }

  void hasten(const double* t, double* w) const override {
    const TailWeight::Slopes further = tails_.hastened(layout_.sums(t));
    w[ScaledLayout::count] += further.n;
    w[ScaledLayout::total] += further.total;
    w[layout_.log_scale] += further.log_scale;
  }

  const KeepsProducts* keeping(const MissingPattern& pattern) const override {
    return keeping_scaled(pattern);
  }

  void as_they_are(double* w) const override {
    const TailWeight::Slopes gaussian = tails_.slopes_at(TailWeight::gaussian);
    w[ScaledLayout::total] = gaussian.total;
    w[layout_.log_scale] = gaussian.log_scale;
  }

  Index n_scales() const override { return 1; }
  void give_scales(const double* u, double* phi) const override {
    for (Index i = ScaledLayout::total; i < layout_.log_scale; ++i) phi[i] *= *u;
    if (phi[ScaledLayout::count] > 0) phi[layout_.log_scale] = std::log(*u) - *u + 1;
  }

  void from_complete(const ObsModel&, const double* complete_t, double* t) const override {
    std::copy_n(complete_t, layout_.p, t);
  }

  void re_express(const ObsModel& from, double* t) const override {
    const ScaledRows& before = same_kind<ScaledRows>(from);
    for (std::size_t b = 0; b < layout_.block.size(); ++b) {
      Vec own = layout_.of_block(b, t, ScaledLayout::total);
      layout_.block[b]->re_express(*before.layout_.block[b], own.data());
      std::copy(own.begin() + 1, own.end(), t + layout_.at[b]);
    }
  }

  double strain() const override {
    double most = 1;
    for (const auto& block : layout_.block) most = std::max(most, block->strain());
    return most;
  }

  double log_evidence(const double* t) const override {
    double sum = tails_.log_evidence(layout_.sums(t));
    for (std::size_t b = 0; b < layout_.block.size(); ++b)
      sum += layout_.block[b]->log_evidence(layout_.of_block(b, t, ScaledLayout::count).data());
    return sum;
  }

  // The weights of a cluster without data are kept, since every block of rows needs them.
  void weights(const double* t, double* w) const override {
    if (std::equal(none_.begin(), none_.end(), t))
      std::copy(prior_.begin(), prior_.end(), w);
    else
      weights_of(t, w);
  }
  void weights_of(const double* t, double* w) const {
    write_weights(w, tails_.slopes(layout_.sums(t)), [&](std::size_t b, double* own) {
      layout_.block[b]->weights(layout_.of_block(b, t, ScaledLayout::count).data(), own);
    });
  }

  double evidence_and_weights(const double* t, double* w) const override {
    TailWeight::Slopes tails;
    double sum = tails_.evidence_and_slopes(layout_.sums(t), tails);
    write_weights(w, tails, [&](std::size_t b, double* own) {
      sum += layout_.block[b]->evidence_and_weights(layout_.of_block(b, t, ScaledLayout::count).data(), own);
    });
    return sum;
  }

  // Expectation over rows together with their scales, (x, u); the sums of u are those under the cluster's ν.
  void point_estimate(const double* t, double* mean, double* w) const override {
    std::fill_n(mean, layout_.p, 0.0);
    const double nu = tails_.mean(layout_.sums(t));
    write_weights(w, tails_.slopes_at(nu), [&](std::size_t b, double* own) {
      Vec own_mean(static_cast<std::size_t>(layout_.block[b]->n_features()));
      layout_.block[b]->point_estimate(layout_.of_block(b, t, ScaledLayout::count).data(), own_mean.data(),
                                       own);
      std::copy(own_mean.begin() + 1, own_mean.end(), mean + layout_.at[b]);
    });
    mean[0] = mean[ScaledLayout::count] = mean[ScaledLayout::total] = 1;
    mean[layout_.log_scale] = ScaleDensity(nu / 2).log_scale;
  }

  void draw(const double* t, Stream& stream, double* w) const override {
    const double nu = tails_.posterior(layout_.sums(t)).draw(stream);
    write_weights(w, tails_.slopes_at(nu), [&](std::size_t b, double* own) {
      layout_.block[b]->draw(layout_.of_block(b, t, ScaledLayout::count).data(), stream, own);
    });
  }

  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override {
    std::vector<WishartModel::StudentRows> rows;
    for (std::size_t b = 0; b < layout_.block.size(); ++b)
      rows.push_back(layout_.block[b]->student_rows(layout_.of_block(b, t, ScaledLayout::count).data()));
    const ScaledPredictive predictive(std::move(rows), tails_.posterior(layout_.sums(t)));
    for (Index i = 0; i < n; ++i)
      out[i] = phi[i * ld + ScaledLayout::count] == 0 ? 0 : predictive(phi + i * ld + ScaledLayout::total);
  }

  NamedArrays posterior(const double* t, Index k) const override {
    NamedArrays out = of_blocks(
        t, k, [](const WishartModel& block, const double* own, Index n) { return block.posterior(own, n); });
    std::vector<ShapeLattice> tails;
    std::size_t most = 0;
    for (Index j = 0; j < k; ++j) {
      tails.push_back(tails_.posterior(layout_.sums(t + j * layout_.p)));
      most = std::max(most, tails.back().prob().size());
    }
    NamedArray node{"tails_node", {}, {k, static_cast<Index>(most)}}, prob{"tails_prob", {}, node.dim};
    for (std::size_t g = 0; g < most; ++g)
      for (const ShapeLattice& q : tails) {
        node.value.push_back(q.shape()[std::min(g, q.shape().size() - 1)]);
        prob.value.push_back(g < q.prob().size() ? q.prob()[g] : 0);
      }
    out.push_back(std::move(node));
    out.push_back(std::move(prob));
    return out;
  }

  NamedArrays mean_parameters(const double* t, Index k) const override {
    NamedArrays out = of_blocks(t, k, [](const WishartModel& block, const double* own, Index n) {
      return block.mean_parameters(own, n);
    });
    NamedArray tails{"tails", {}, {}};
    for (Index j = 0; j < k; ++j) tails.value.push_back(tails_.mean(layout_.sums(t + j * layout_.p)));
    out.push_back(std::move(tails));
    return out;
  }

 private:
  MissingCells none_missing() const {
    return MissingCells(static_cast<std::size_t>(layout_.coordinates), false);
  }

  template <class OfBlock>
  void write_weights(double* w, const TailWeight::Slopes& tails, OfBlock of_block) const {
    std::fill_n(w, layout_.p, 0.0);
    w[ScaledLayout::count] = tails.n;
    w[ScaledLayout::total] = tails.total;
    w[layout_.log_scale] = tails.log_scale;
    w[layout_.entropy] = 1;
    for (std::size_t b = 0; b < layout_.block.size(); ++b) {
      Vec own(static_cast<std::size_t>(layout_.block[b]->n_features()));
      of_block(b, own.data());
      w[ScaledLayout::count] += own[0];
      std::copy(own.begin() + 1, own.end(), w + layout_.at[b]);
    }
  }

  // The arrays of the blocks for k clusters; those of columns are put side by side.
  template <class F>
  NamedArrays of_blocks(const double* t, Index k, F arrays) const {
    std::vector<NamedArrays> all;
    for (std::size_t b = 0; b < layout_.block.size(); ++b) {
      Vec own;
      for (Index j = 0; j < k; ++j) {
        const Vec one = layout_.of_block(b, t + j * layout_.p, ScaledLayout::count);
        own.insert(own.end(), one.begin(), one.end());
      }
      all.push_back(arrays(*layout_.block[b], own.data(), k));
    }
    return by_columns_ ? side_by_side(all, k) : all[0];
  }

  // mean and scale (K × D), strengths and counts that all columns share (K), covariances (D × D × K).
  static NamedArrays side_by_side(const std::vector<NamedArrays>& all, Index k) {
    const Index d = static_cast<Index>(all.size());
    NamedArrays out;
    for (std::size_t a = 0; a < all[0].size(); ++a) {
      const std::string& name = all[0][a].name;
      if (name == "mean_strength" || name == "df") {
        out.push_back(all[0][a]);
      } else if (name == "cov") {
        NamedArray cov{name, Vec(static_cast<std::size_t>(d * d * k), 0.0), {d, d, k}};
        for (Index i = 0; i < k; ++i)
          for (Index j = 0; j < d; ++j) cov.value[(i * d + j) * d + j] = all[j][a].value[i];
        out.push_back(std::move(cov));
      } else {
        NamedArray columns{name, {}, {k, d}};
        for (const NamedArrays& own : all)
          columns.value.insert(columns.value.end(), own[a].value.begin(), own[a].value.end());
        out.push_back(std::move(columns));
      }
    }
    return out;
  }

  ScaledLayout layout_;
  TailWeight tails_;
  bool gaps_, by_columns_;
  Vec none_, prior_;  // the statistic of a cluster without data, and its weights
};

}  // namespace

std::unique_ptr<ObsModel> make_scaled_rows(std::vector<std::shared_ptr<const WishartModel>> blocks,
                                           const Fields& fields, bool by_columns) {
  const Vec tails = fields.numbers("tails");
  ShapePrior prior;
  if (tails.size() == 1)
    prior.known = tails[0];
  else
    prior.prior = {fields.numbers("tails", 2)[0], tails[1]};
  return std::make_unique<ScaledRows>(std::move(blocks), prior, fields.optional_flag("gaps"), by_columns);
}

std::unique_ptr<ObsModel> as_scaled(const Fields& fields, std::unique_ptr<WishartModel> inner) {
  if (!fields.has("tails")) return as_observed(fields, std::move(inner));
  return make_scaled_rows({std::shared_ptr<const WishartModel>(std::move(inner))}, fields, false);
}

}  // namespace bnpvi
