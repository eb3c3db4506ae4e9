#include <algorithm>
#include <cmath>

#include "foundation/log_product.h"
#include "foundation/special.h"
#include "foundation/variates.h"
#include "kernels/kernels.h"
#include "observations/capabilities.h"
#include "observations/column_gaps.h"
#include "observations/gather.h"
#include "observations/obs_models.h"

namespace bnpvi {

namespace {

/// Counts x_j ~ Poisson(e θ_j) with independent rates θ_j ~ Gamma(a_j, rate b_j). exposed: the last column
/// of the data (one more than the length of a) is the exposure e > 0 of each row; else e = 1. censored: the
/// two columns of the data are a time e > 0 and whether the event occurred then (1) or had not occurred yet
/// (0). The likelihood θ^x e^(−θe) is that of a count, but is a density of the time.
struct PoissonPrior {
  Vec a, b;
  bool exposed = false, censored = false;
  bool gaps = false;  // counts, but not exposures, may be missing; not for censored times
};

// φ = (1, x, [e]); for censored times (1, e, x); with gaps (1, x, δe). The rate of each column has the prior
// Gamma(a_j, rate b_j). With E_j = Σ r δ_j e, which is N if e = 1 and no cell is missing,
// q(θ_j) = Gamma(a_j + S_j, rate b_j + E_j). h(x) = Π_j e^x_j / x_j!; for censored times 1.
class Poisson final : public ObsModel, public BaseMeasure, public Gaps, public Urn {
 public:
  explicit Poisson(const PoissonPrior& prior)
      : d_(static_cast<Index>(prior.a.size())),
        exposed_(prior.exposed || prior.censored),
        censored_(prior.censored),
        a_(prior.a),
        b_(prior.b),
        gaps_(prior.gaps, d_, prior.gaps ? 1 + d_ : 1 + n_columns()) {
    for (double b : b_) log_b_.push_back(std::log(b));
  }

  Index n_features() const override { return gaps_.n_features(); }
  Index n_columns() const override { return d_ + (exposed_ ? 1 : 0); }
  Capabilities capabilities() const override {
    Capabilities out;
    out.linear = !gaps_;
    if (!censored_) out.base = this;
    if (gaps_) out.gaps = this;
    if (!exposed_ && !gaps_) out.urn = this;
    return out;
  }

  void log_base(const Dataset& data, const Index* rows, Index n, double* out) const override {
    for (Index i = 0; i < n; ++i) {
      double total = 0, exposure = 1;
      out[i] = 0;
      for_entries(data, rows[i], [&](Index j, double x) {
        if (j == d_) exposure = x;
        if (j == d_ || std::isnan(x)) return;
        total += x;
        if (x > 1) out[i] -= log_gamma(x + 1);
      });
      out[i] += total * std::log(exposure);
    }
  }

  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    gather_linear(data, rows, n, phi, ld);
    gaps_.mark(n, phi, ld, 1, 1, [this](const double* f) { return exposed_ ? f[1 + d_] : 1; });
  }

  void from_complete(const ObsModel&, const double* complete_t, double* t) const override {
    std::copy_n(complete_t, 1 + d_, t);
    for (Index j = 0; j < d_; ++j) t[exposure_at(j)] = complete_t[exposed_ ? 1 + d_ : 0];
  }

  double log_evidence(const double* t) const override {
    double sum = 0;
    for (Index j = 0; j < d_; ++j) {
      const double s = count(t, j), exposure = total_exposure(t, j);
      sum -= log_gamma_difference(a_[j], s) + (a_[j] + s) * std::log1p(exposure / b_[j]) + s * log_b_[j];
    }
    return sum;
  }

  void weights(const double* t, double* w) const override {
    std::fill_n(w, n_features(), 0.0);
    kernels().digamma_of_counts(d_, a_.data(), t + first(), 0, w + first());
    for (Index j = 0; j < d_; ++j) {
      const double exposure = total_exposure(t, j);
      w[first() + j] -= log_b_[j] + std::log1p(exposure / b_[j]);
      w[exposure_at(j)] -= shape(t, j) / (b_[j] + exposure);
    }
  }

  // E[θ] under the posterior, times the mean exposure of a row (1 in an empty cluster).
  void point_estimate(const double* t, double* mean, double* w) const override {
    std::fill_n(w, n_features(), 0.0);
    for (Index j = 0; j < d_; ++j) {
      const double exposure = total_exposure(t, j), each = t[0] > 0 ? exposure / t[0] : 1;
      const double rate = shape(t, j) / (b_[j] + exposure);
      mean[exposure_at(j)] = each;
      mean[first() + j] = rate * each;
      w[first() + j] = std::log(rate);
      w[exposure_at(j)] -= rate;
    }
    mean[0] = 1;
  }

  void draw(const double* t, Stream& stream, double* w) const override {
    std::fill_n(w, n_features(), 0.0);
    for (Index j = 0; j < d_; ++j) {
      const double log_rate = draw_log_gamma(shape(t, j), stream) - std::log(b_[j] + total_exposure(t, j));
      w[first() + j] = log_rate;
      w[exposure_at(j)] -= std::exp(log_rate);
    }
  }

  /// For rows with exposure 1: T, −Σ_j (a_j + S_j) log(1 + 1/B_j), and −log(B_j + 1) for each column,
  /// B_j = b_j + E.
  Index urn_size() const override { return n_features() + 1 + d_; }
  void fill_urn(double* urn) const override {
    double* rest = urn + n_features();
    rest[0] = 0;
    for (Index j = 0; j < d_; ++j) {
      const double rate = b_[j] + total_exposure(urn, j);
      rest[0] -= shape(urn, j) * std::log1p(1 / rate);
      rest[1 + j] = -std::log(rate + 1);
    }
  }
  void urn_predictives(const double* urns, Index k, const double* phi, double* out) const override {
    const double* x = phi + first();
    for (Index i = 0; i < k; ++i) {
      const double *t = urns + i * urn_size(), *rest = t + n_features();
      LogProduct product;
      out[i] = rest[0];
      for (Index j = 0; j < d_; ++j) {
        product.times_rising(shape(t, j), x[j]);
        out[i] += x[j] * rest[1 + j];
      }
      out[i] += product.log();
    }
  }

  // Negative binomial with size a + S and probability (b + E) / (b + E + e), without its factor 1/x!.
  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override {
    for (Index i = 0; i < n; ++i) {
      const double* x = phi + i * ld + first();
      out[i] = 0;
      for (Index j = 0; j < d_; ++j) {
        const double size = shape(t, j), rate = b_[j] + total_exposure(t, j),
                     e = phi[i * ld + exposure_at(j)];
        out[i] -= size * std::log1p(e / rate);
        if (x[j] > 0) out[i] -= log_gamma_difference(size, x[j]) + x[j] * std::log(rate + e);
      }
    }
  }

  NamedArrays posterior(const double* t, Index k) const override {
    NamedArray a{"a", {}, {k, d_}}, b{"b", {}, {k, d_}};
    for (Index j = 0; j < d_; ++j)
      for (Index i = 0; i < k; ++i) {
        a.value.push_back(shape(t + i * n_features(), j));
        b.value.push_back(b_[j] + total_exposure(t + i * n_features(), j));
      }
    return {a, b};
  }

  NamedArrays mean_parameters(const double* t, Index k) const override {
    const NamedArrays q = posterior(t, k);
    NamedArray out{"rate", q[0].value, q[0].dim};
    for (std::size_t i = 0; i < out.value.size(); ++i) out.value[i] /= q[1].value[i];
    return {out};
  }

 private:
  // Calls f(column, value) for each cell of a row; for sparse rows, for the stored entries.
  template <class F>
  static void for_entries(const Dataset& data, Index row, F f) {
    if (!data.sparse())
      for (Index j = 0; j < data.d; ++j) f(j, data.dense[j * data.n + row]);
    else
      for (int s = data.row_start[row]; s < data.row_start[row + 1]; ++s) f(data.column[s], data.value[s]);
  }

  // Positions, among the features, of the first count and of the exposure of column j.
  Index first() const { return censored_ ? 2 : 1; }
  Index exposure_at(Index j) const { return gaps_ ? gaps_.at(j) : censored_ ? 1 : exposed_ ? 1 + d_ : 0; }

  // S ≥ 0 and E ≥ 0 in exact arithmetic, but rounding in sums and differences of summaries can make them
  // negative.
  double count(const double* t, Index j) const { return std::max(t[first() + j], 0.0); }
  double shape(const double* t, Index j) const { return a_[j] + count(t, j); }
  double total_exposure(const double* t, Index j) const { return std::max(t[exposure_at(j)], 0.0); }

  Index d_;
  bool exposed_, censored_;
  Vec a_, b_, log_b_;
  ColumnGaps gaps_;
};

}  // namespace

std::unique_ptr<ObsModel> make_poisson(const Fields& f) {
  const Vec a = of_columns(f, "a");
  return std::make_unique<Poisson>(PoissonPrior{a, f.numbers("b", static_cast<Index>(a.size())),
                                                f.flag("exposed"), false, f.optional_flag("gaps")});
}

std::unique_ptr<ObsModel> make_censored(const Fields& f) {
  return std::make_unique<Poisson>(PoissonPrior{f.numbers("a", 1), f.numbers("b", 1), false, true});
}

}  // namespace bnpvi
