#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "foundation/special.h"
#include "foundation/variates.h"
#include "observations/capabilities.h"
#include "observations/obs_beta.h"
#include "observations/obs_models.h"
#include "observations/row_values.h"

namespace bnpvi {

namespace {

// A cell is 0 with probability ρ_j ~ Beta(½, ½); otherwise it follows the model of positive values, which
// treats zeros as missing. φ = (1, φ'∖0, ζ) with ζ_j = 1 where cell j is 0. With N_j, the count of positive
// cells, among the last features of the model of positive values,
//   Λ = Λ' + Σ_j log B(½ + Z_j, ½ + N_j) − log B(½, ½).
class ZeroCells final : public ObsModel, public Gaps, public BaseMeasure {
 public:
  explicit ZeroCells(std::shared_ptr<const ObsModel> positive)
      : inner_(std::move(positive)), d_(inner_->n_columns()), p_(inner_->n_features()) {}

  Index n_features() const override { return p_ + d_; }
  Index n_columns() const override { return d_; }
  Capabilities capabilities() const override {
    Capabilities out;
    out.gaps = this;
    out.wide_sums = inner_->capabilities().wide_sums;
    if (inner_->capabilities().base) out.base = this;
    return out;
  }

  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    const RowValues positive = without_zeros(data, rows, n);
    inner_->features(positive.view, positive.number.data(), n, phi, ld);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < d_; ++j) phi[i * ld + p_ + j] = data.dense[j * data.n + rows[i]] == 0;
  }
  void log_base(const Dataset& data, const Index* rows, Index n, double* out) const override {
    const RowValues positive = without_zeros(data, rows, n);
    inner_->capabilities().base->log_base(positive.view, positive.number.data(), n, out);
  }
  // The features are the same with and without missing cells: zeros and positive values are counted in both
  // cases.
  void from_complete(const ObsModel&, const double* complete_t, double* t) const override {
    std::copy_n(complete_t, n_features(), t);
  }

  double log_evidence(const double* t) const override {
    double total = inner_->log_evidence(t);
    for (Index j = 0; j < d_; ++j) total += log_beta_gain(prior, prior, zeros(t, j), positives(t, j));
    return total;
  }
  void weights(const double* t, double* w) const override {
    inner_->weights(t, w);
    complete_weights(t, w);
  }
  double evidence_and_weights(const double* t, double* w) const override {
    double total = inner_->evidence_and_weights(t, w);
    for (Index j = 0; j < d_; ++j) total += log_beta_gain(prior, prior, zeros(t, j), positives(t, j));
    complete_weights(t, w);
    return total;
  }

  // The point estimate of the model of positive values, weighted by the fraction of positive cells: the
  // posterior mean of 1 − ρ among the observed cells.
  void point_estimate(const double* t, double* mean, double* w) const override {
    inner_->point_estimate(t, mean, w);
    for (Index j = 0; j < d_; ++j) {
      const double z = zeros(t, j), n = positives(t, j), rho = (prior + z) / (2 * prior + z + n);
      const double seen = t[0] > 0 && z + n > 0 ? std::min((z + n) / t[0], 1.0) : t[0] > 0 ? 0 : 1;
      const double before = mean[count_at(j)], share = seen * (1 - rho);
      for (Index f = 1; f < p_; ++f)
        if (column_of(f) == j) mean[f] = before > 0 ? mean[f] * share / before : 0;
      mean[p_ + j] = seen * rho;
      w[p_ + j] = std::log(rho);
      w[count_at(j)] += std::log1p(-rho);
    }
  }
  void draw(const double* t, Stream& stream, double* w) const override {
    inner_->draw(t, stream, w);
    for (Index j = 0; j < d_; ++j) {
      const LogBeta rho = draw_log_beta(prior + zeros(t, j), prior + positives(t, j), stream);
      w[p_ + j] = rho.log_x;
      w[count_at(j)] += rho.log_rest;
    }
  }
  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override {
    inner_->log_predictive(t, phi, n, ld, out);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < d_; ++j)
        out[i] += log_beta_gain(prior + zeros(t, j), prior + positives(t, j), phi[i * ld + p_ + j],
                                phi[i * ld + count_at(j)]);
  }

  NamedArrays posterior(const double* t, Index k) const override {
    NamedArrays out = inner_->posterior(of_inner(t, k).data(), k);
    NamedArray zero{"zero_a", {}, {k, d_}}, rest{"zero_b", {}, {k, d_}};
    for (Index j = 0; j < d_; ++j)
      for (Index i = 0; i < k; ++i) {
        zero.value.push_back(prior + zeros(t + i * n_features(), j));
        rest.value.push_back(prior + positives(t + i * n_features(), j));
      }
    out.push_back(zero);
    out.push_back(rest);
    return out;
  }
  NamedArrays mean_parameters(const double* t, Index k) const override {
    NamedArrays out = inner_->mean_parameters(of_inner(t, k).data(), k);
    NamedArray zero{"zero", {}, {k, d_}};
    for (Index j = 0; j < d_; ++j)
      for (Index i = 0; i < k; ++i) {
        const double* own = t + i * n_features();
        zero.value.push_back((prior + zeros(own, j)) / (2 * prior + zeros(own, j) + positives(own, j)));
      }
    out.push_back(zero);
    return out;
  }

 private:
  static constexpr double prior = 0.5;

  // The features of column j are D apart, from the first one on; the counts come last.
  Index count_at(Index j) const { return p_ - d_ + j; }
  Index column_of(Index f) const { return (f - 1) % d_; }
  // At least 0: rounding in sums and differences of summaries can make counts negative.
  double zeros(const double* t, Index j) const { return std::max(t[p_ + j], 0.0); }
  double positives(const double* t, Index j) const { return std::max(t[count_at(j)], 0.0); }

  static RowValues without_zeros(const Dataset& data, const Index* rows, Index n) {
    return RowValues(data, rows, n, [](double x) { return x == 0 ? std::nan("") : x; });
  }
  void complete_weights(const double* t, double* w) const {
    for (Index j = 0; j < d_; ++j) {
      const double z = prior + zeros(t, j), n = prior + positives(t, j);
      w[p_ + j] = digamma_difference(z, n);
      w[count_at(j)] += digamma_difference(n, z);
    }
  }
  Vec of_inner(const double* t, Index k) const {
    Vec out;
    for (Index i = 0; i < k; ++i) out.insert(out.end(), t + i * n_features(), t + i * n_features() + p_);
    return out;
  }

  std::shared_ptr<const ObsModel> inner_;
  Index d_, p_;
};

}  // namespace

std::unique_ptr<ObsModel> make_zero_cells(std::shared_ptr<const ObsModel> positive) {
  return std::make_unique<ZeroCells>(std::move(positive));
}

}  // namespace bnpvi
