#include "observations/obs_glm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "foundation/special.h"
#include "foundation/variates.h"
#include "observations/glm_posterior.h"
#include "observations/linalg.h"
#include "observations/regressors.h"
#include "observations/repeated_rows.h"
#include "observations/tangent_rows.h"

namespace bnpvi {

namespace {

// The features of the curvature.
std::vector<Index> closing(const TangentLayout& layout) {
  std::vector<Index> out;
  for (Index g = 0; g < layout.sizes(); ++g)
    for (Index v = 0; v < layout.squares(); ++v) out.push_back(layout.curvature(g) + v);
  return out;
}

// individuals: false.
TangentLayout layout_of(const Fields& f) {
  const bool intercept = f.flag("intercept"), offset = f.optional_flag("offset");
  const Index responses = f.integer("responses"), known = responses + (offset ? 1 : 0);
  const Vec centre = f.numbers("centre"), unit = f.numbers("unit", static_cast<Index>(centre.size()));
  return {responses,
          offset,
          intercept,
          Vec(centre.begin() + known, centre.end()),
          Vec(unit.begin() + known, unit.end()),
          f.has("size") ? f.numbers("size") : Vec{},
          false};
}

/// Clusters with logistic likelihoods (TangentLayout): Λ = log Σ_g exp(Λ_g) / G (GlmPosteriors) and ∇Λ = Σ_g
/// q_g ∇Λ_g, a lower bound of the evidence for any tangents that the statistic was formed with.
class Glm final : public ObsModel,
                  public ExpectedCells,
                  public Gaps,
                  public ColumnUnits,
                  public TangentPredictive {
 public:
  /// rows: if the data are individuals, the same model for single rows; else null.
  Glm(TangentLayout layout, GlmPrior prior, std::shared_ptr<const ObsModel> rows)
      : known_(std::move(layout), std::move(prior)), layout_(known_.layout()) {
    if (rows) individuals_ = std::make_unique<RepeatedRows>(std::move(rows), RowsOfIndividuals::kept);
  }

  Index n_features() const override { return layout_.n_features(); }
  Index n_columns() const override { return layout_.columns(); }
  Capabilities capabilities() const override {
    Capabilities out;
    out.cells = this;
    out.gaps = this;
    out.units = this;
    out.individuals = individuals_.get();
    return out;
  }

  // Features with the tangents at ψ = 0.
  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    Vec w(static_cast<std::size_t>(n_features()), 0.0);
    for (Index at : closing(layout_)) w[at] = 1;
    const double one = 1, *none = w.data();
    for (Index i = 0; i < n; ++i) std::fill_n(phi + i * ld, n_features(), 0.0);
    for (const IncompleteRows& group : incomplete_rows(data, rows, n)) {
      const auto own = pattern(group.missing);
      Vec reduced(static_cast<std::size_t>(own->n_features()));
      for (Index i : group.at) {
        double* f = phi + i * ld;
        own->features(data, rows + i, 1, reduced.data(), own->n_features());
        own->add(1, reduced.data(), 1, &one, &none, &f);
      }
    }
  }

  Index n_cells() const override { return 1; }
  bool all_rows() const override { return true; }

  // Complete rows form one pattern. Individuals with the same number of complete rows form a pattern whose
  // MissingCells are that many values `false`.
  std::vector<IncompleteRows> incomplete_rows(const Dataset& data, const Index* rows,
                                              Index n) const override {
    const Index d = layout_.columns();
    std::vector<Index> there(static_cast<std::size_t>(n), 1);  // rows of a unit
    for (Index i = 0; i < n && layout_.individuals; ++i)
      there[i] = (data.row_start[rows[i] + 1] - data.row_start[rows[i]]) / d;
    for (Index j = 0; j < d && !layout_.individuals; ++j) {
      const double* column = data.dense + j * data.n;
      for (Index i = 0; i < n; ++i) there[i] &= column[rows[i]] == column[rows[i]] ? 1 : 0;  // not NaN
    }
    std::vector<IncompleteRows> groups;
    std::map<Index, std::size_t> group_of;
    for (Index i = 0, end = 0; i < n; i = end) {
      while (end < n && there[end] == there[i]) ++end;
      const auto [known, is_new] = group_of.emplace(there[i], groups.size());
      if (is_new) groups.push_back({MissingCells(std::max<Index>(there[i], 1), there[i] == 0), {}});
      std::vector<Index>& at = groups[known->second].at;
      at.resize(at.size() + static_cast<std::size_t>(end - i));
      std::iota(at.end() - (end - i), at.end(), i);
    }
    return groups;
  }

  std::unique_ptr<const MissingPattern> pattern(const MissingCells& missing) const override {
    if (missing[0]) return nothing_observed();
    return make_tangent_pattern(layout_, static_cast<Index>(missing.size()), *this);
  }

  void from_complete(const ObsModel&, const double* complete_t, double* t) const override {
    std::copy_n(complete_t, n_features(), t);
  }

  // Regressors in these units are x̃ = H x̃', x̃' in those of `from`; H = (1; shift, scale).
  void re_express(const ObsModel& from, double* t) const override {
    const TangentLayout& before = same_kind<Glm>(from).layout_;
    const Index e = layout_.regressors(), first = layout_.intercept ? 1 : 0;
    Vec shift, scale;
    for (std::size_t j = 0; j < layout_.unit.size(); ++j) {
      shift.push_back((before.centre[j] - layout_.centre[j]) / layout_.unit[j]);
      scale.push_back(before.unit[j] / layout_.unit[j]);
    }
    const auto square = [&](Index at) {
      Vec full(static_cast<std::size_t>(e * e));
      for (Index i = 0; i < e; ++i)
        for (Index j = 0; j < e; ++j) full[i * e + j] = t[at + packed(i, j)];
      change_regressors(
          full, e, first, [&](Index j) { return shift[j]; }, [&](Index j) { return scale[j]; });
      for (Index i = 0; i < e; ++i)
        for (Index j = 0; j <= i; ++j) t[at + packed(i, j)] = full[i * e + j];
    };
    for (Index g = 0; g < layout_.sizes(); ++g) {
      double* linear = t + layout_.linear(g);
      for (Index j = first; j < e; ++j)
        linear[j] = scale[j - first] * linear[j] + (first == 1 ? shift[j - 1] * linear[0] : 0);
      square(layout_.quadratic(g));
      square(layout_.curvature(g));
    }
  }

  double strain() const override { return 1; }

  double log_evidence(const double* t) const override { return log_mean_evidence(known_.of_sizes(t, false)); }

  void weights(const double* t, double* w) const override { evidence_and_weights(t, w); }

  // Every size keeps a minimal weight, so that its tangents can still be recovered from w.
  double evidence_and_weights(const double* t, double* w) const override {
    constexpr double least = 1e-200;
    const std::vector<GlmPosterior> all = known_.of_sizes(t);
    const Vec share = shares_of_sizes(all);
    std::fill_n(w, n_features(), 0.0);
    for (Index g = 0; g < layout_.sizes(); ++g)
      write_weights(all[g].mean, all[g].covariance, std::max(share[g], least), g, w);
    return log_mean_evidence(all);
  }

  // For the smoothed statistic, the size with the highest maximum of the likelihood, and b at that maximum.
  void point_estimate(const double* t, double* mean, double* w) const override {
    const Index e = layout_.regressors();
    const std::vector<GlmPosterior> all = known_.of_sizes(t);
    const double n = std::max(t[0], 0.0) + 1;
    std::fill_n(mean, n_features(), 0.0);
    std::fill_n(w, n_features(), 0.0);
    mean[0] = 1;
    Index best = 0;
    double highest = -std::numeric_limits<double>::infinity();
    for (Index g = 0; g < layout_.sizes(); ++g) {
      const double* linear = t + layout_.linear(g);
      const double* quadratic = t + layout_.quadratic(g);
      double height = 0;
      for (Index i = 0; i < e; ++i) {
        double own = linear[i];
        for (Index j = 0; j < e; ++j) own += known_.prior().precision[i * e + j] * known_.prior().mean[j];
        mean[layout_.linear(g) + i] = own / n;
        height += 0.5 * own * all[g].mean[i];
        for (Index j = 0; j <= i; ++j) {
          mean[layout_.quadratic(g) + packed(i, j)] =
              (quadratic[packed(i, j)] + known_.prior().precision[i * e + j]) / n;
          mean[layout_.curvature(g) + packed(i, j)] = t[layout_.curvature(g) + packed(i, j)] / n;
        }
      }
      mean[layout_.constant(g)] = t[layout_.constant(g)] / n;
      height += t[layout_.constant(g)];
      if (height > highest) {
        highest = height;
        best = g;
      }
    }
    write_weights(all[best].mean, Vec(static_cast<std::size_t>(e * e), 0.0), 1, best, w);
  }

  void draw(const double* t, Stream& stream, double* w) const override {
    const Index e = layout_.regressors();
    const Vec share = shares_of_sizes(known_.of_sizes(t, false));
    Index g = 0;
    for (double u = stream.uniform() - share[0]; u > 0 && g + 1 < layout_.sizes(); u -= share[g]) ++g;
    const GlmPosterior q = known_.of(t, g);
    const Cholesky root(q.covariance.data(), e);
    Vec z(static_cast<std::size_t>(e)), b = q.mean;
    for (double& x : z) x = draw_normal(stream);
    for (Index i = 0; i < e; ++i)
      for (Index j = 0; j <= i; ++j) b[i] += root.factor()[i * e + j] * z[j];
    std::fill_n(w, n_features(), 0.0);
    write_weights(b, Vec(static_cast<std::size_t>(e * e), 0.0), 1, g, w);
  }

  // Row after row: b is treated as normal, and each row updates its mean and covariance by those of its ψ.
  double predictive(const double* t, const double* of_rows, Index rows) const override {
    const Index e = layout_.regressors();
    const TangentRows reduced(layout_);
    const std::vector<GlmPosterior> before = known_.of_sizes(t, false);
    std::vector<GlmPosterior> after = before;
    for (Index g = 0; g < layout_.sizes(); ++g) {
      Vec &mean = after[g].mean, covariance = known_.curved(t, g), pull(static_cast<std::size_t>(e));
      for (Index l = 0; l < rows; ++l) {
        const double* row = of_rows + l * reduced.width;
        const double* x = row + reduced.regressors;
        const LogisticTerm term = reduced.term(row, g);
        double psi = term.offset, variance = 0;
        for (Index i = 0; i < e; ++i) {
          pull[i] = 0;
          for (Index j = 0; j < e; ++j) pull[i] += covariance[i * e + j] * x[j];
          psi += x[i] * mean[i];
          variance += x[i] * pull[i];
        }
        double mean_after = psi, variance_after = variance;
        after[g].log_evidence += logistic_evidence(term, mean_after, variance_after);
        if (!(variance > 0)) continue;
        for (Index i = 0; i < e; ++i) mean[i] += pull[i] * (mean_after - psi) / variance;
        for (Index i = 0; i < e; ++i)
          for (Index j = 0; j < e; ++j)
            covariance[i * e + j] -= pull[i] * pull[j] * (variance - variance_after) / (variance * variance);
      }
    }
    return log_mean_evidence(after) - log_mean_evidence(before);
  }

  // Coefficients averaged over sizes, with the covariance derived from the curvature.
  NamedArrays posterior(const double* t, Index k) const override {
    const Index e = layout_.regressors();
    NamedArray mean{"coef_mean", {}, {1, e, k}}, cov{"coef_cov", {}, {e, e, k}};
    NamedArray prob{"size_prob", Vec(static_cast<std::size_t>(k * layout_.sizes())), {k, layout_.sizes()}};
    for (Index c = 0; c < k; ++c) {
      const double* own = t + c * n_features();
      const std::vector<GlmPosterior> all = known_.of_sizes(own);
      const Vec share = shares_of_sizes(all), average = average_mean(all, share);
      Vec around(static_cast<std::size_t>(e * e), 0.0);
      for (Index g = 0; g < layout_.sizes(); ++g) {
        const Vec curve = known_.curved(own, g);
        for (Index i = 0; i < e; ++i)
          for (Index j = 0; j < e; ++j)
            around[i * e + j] +=
                share[g] * (curve[i * e + j] + (all[g].mean[i] - average[i]) * (all[g].mean[j] - average[j]));
        prob.value[g * k + c] = share[g];
      }
      const Vec b = known_.to_users(average), area = known_.area_to_users(around);
      mean.value.insert(mean.value.end(), b.begin(), b.end());
      cov.value.insert(cov.value.end(), area.begin(), area.end());
    }
    NamedArrays out{std::move(mean), std::move(cov)};
    if (!layout_.size.empty()) out.push_back(std::move(prob));
    return out;
  }

  NamedArrays mean_parameters(const double* t, Index k) const override {
    const Index e = layout_.regressors();
    NamedArray mean{"coef", {}, {1, e, k}}, size{"size", {}, {}};
    for (Index c = 0; c < k; ++c) {
      const std::vector<GlmPosterior> all = known_.of_sizes(t + c * n_features());
      const Vec share = shares_of_sizes(all), b = known_.to_users(average_mean(all, share));
      mean.value.insert(mean.value.end(), b.begin(), b.end());
      double expected = 0;
      for (std::size_t g = 0; g < layout_.size.size(); ++g) expected += share[g] * layout_.size[g];
      size.value.push_back(expected);
    }
    NamedArrays out{std::move(mean)};
    if (!layout_.size.empty()) out.push_back(std::move(size));
    return out;
  }

 private:
  void write_weights(const Vec& b, const Vec& covariance, double share, Index g, double* w) const {
    const Index e = layout_.regressors();
    for (Index i = 0; i < e; ++i) {
      w[layout_.linear(g) + i] = share * b[i];
      for (Index j = 0; j <= i; ++j)
        w[layout_.quadratic(g) + packed(i, j)] =
            -(i == j ? 0.5 : 1) * share * (b[i] * b[j] + covariance[i * e + j]);
    }
    w[layout_.constant(g)] = share;
  }

  GlmPosteriors known_;
  const TangentLayout& layout_;
  std::unique_ptr<RepeatedRows> individuals_;
};

}  // namespace

std::vector<Index> closing_features_of_glm(const Fields& f) { return closing(layout_of(f)); }

std::unique_ptr<ObsModel> make_glm(const Fields& f) {
  TangentLayout layout = layout_of(f);
  const bool intercept = layout.intercept;
  const Index e = layout.regressors(), covariates = static_cast<Index>(layout.unit.size());
  const Vec origin = f.numbers("origin", covariates), spread = f.numbers("spread", covariates);
  GlmPrior prior{f.numbers("coef_mean", e), f.numbers("scaled_precision", e * e)};
  change_regressors(
      prior.precision, e, intercept ? 1 : 0,
      [&](Index j) { return (origin[j] - layout.centre[j]) / layout.unit[j]; },
      [&](Index j) { return spread[j] / layout.unit[j]; });
  for (Index j = 0; j < covariates; ++j) {
    double& b = prior.mean[j + (intercept ? 1 : 0)];
    if (intercept) prior.mean[0] += b * layout.centre[j];
    b *= layout.unit[j];
  }
  if (!f.optional_flag("repeated")) return std::make_unique<Glm>(layout, prior, nullptr);
  const auto rows = std::make_shared<Glm>(layout, prior, nullptr);
  layout.individuals = true;
  return std::make_unique<Glm>(layout, prior, rows);
}

}  // namespace bnpvi
