#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "foundation/special.h"
#include "foundation/variates.h"
#include "observations/capabilities.h"
#include "observations/column_gaps.h"
#include "observations/gather.h"
#include "observations/obs_models.h"

namespace bnpvi {

namespace {

/// Values x_j > 0 from Gamma distributions with known shapes s_j and independent rates
/// θ_j ~ Gamma(a_j, rate b_j).
struct GammaTimesPrior {
  Vec shape, a, b;
  bool gaps = false;  // cells may be missing
};

// φ = (1, x, [δ]), x_j ~ Gamma(s_j, rate θ_j), θ_j ~ Gamma(a_j, rate b_j);
// q(θ_j) = Gamma(a_j + s_j N_j, rate b_j + S_j).
//
// With a large shape, the evidence would be lost among terms s log s that cancel. Two definitions avoid such
// terms: h(x) = x^(s−1) s^s e^(−s) / Γ(s), whose factor in addition to x^(s−1) is a Stirling remainder; and
// Λ written in terms of m = s rate / shape, the scale of x that corresponds to a Gamma distribution of θ.
class GammaTimes final : public ObsModel, public BaseMeasure, public Gaps {
 public:
  explicit GammaTimes(const GammaTimesPrior& prior)
      : d_(static_cast<Index>(prior.a.size())),
        s_(prior.shape),
        a_(prior.a),
        b_(prior.b),
        gaps_(prior.gaps, d_, 1 + d_) {}

  Index n_features() const override { return gaps_.n_features(); }
  Index n_columns() const override { return d_; }
  Capabilities capabilities() const override {
    Capabilities out;
    out.linear = !gaps_;
    out.base = this;
    if (gaps_) out.gaps = this;
    return out;
  }

  void log_base(const Dataset& data, const Index* rows, Index n, double* out) const override {
    if (data.sparse()) throw std::invalid_argument("this observation model needs dense data");
    std::fill(out, out + n, 0.0);
    for (Index j = 0; j < d_; ++j) {
      const double* x = data.dense + j * data.n;
      const double constant = stirling_remainder(s_[j]);
      for (Index i = 0; i < n; ++i)
        if (!std::isnan(x[rows[i]])) out[i] += (s_[j] - 1) * std::log(x[rows[i]]) - constant;
    }
  }

  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    gather_linear(data, rows, n, phi, ld);
    gaps_.mark(n, phi, ld, 1, 1, [](const double*) { return 1; });
  }

  void from_complete(const ObsModel&, const double* complete_t, double* t) const override {
    gaps_.from_complete(complete_t, t);
  }

  double log_evidence(const double* t) const override {
    double total = 0;
    for (Index j = 0; j < d_; ++j) total += gain(j, a_[j], b_[j], s_[j] * gaps_.count(t, j), sum(t, j));
    return total;
  }

  void weights(const double* t, double* w) const override {
    std::fill_n(w, n_features(), 0.0);
    for (Index j = 0; j < d_; ++j) {
      const double shape = posterior_shape(t, j), rate = posterior_rate(t, j);
      w[gaps_.at(j)] += s_[j] * (1 + digamma(shape) - std::log(shape) - std::log(s_[j] / shape * rate));
      w[1 + j] = -shape / rate;
    }
  }

  // E[θ] under the posterior, and the mean of x at that θ, times the fraction of rows that have the cell.
  void point_estimate(const double* t, double* mean, double* w) const override {
    std::fill_n(w, n_features(), 0.0);
    for (Index j = 0; j < d_; ++j) {
      const double each = s_[j] / posterior_shape(t, j) * posterior_rate(t, j), share = gaps_.share(t, j);
      mean[gaps_.at(j)] = share;
      mean[1 + j] = share * each;
      w[gaps_.at(j)] += s_[j] * (1 - std::log(each));
      w[1 + j] = -s_[j] / each;
    }
    mean[0] = 1;
  }

  void draw(const double* t, Stream& stream, double* w) const override {
    std::fill_n(w, n_features(), 0.0);
    for (Index j = 0; j < d_; ++j) {
      const double log_rate = draw_log_gamma(posterior_shape(t, j), stream) - std::log(posterior_rate(t, j));
      w[gaps_.at(j)] += s_[j] * (1 + log_rate - std::log(s_[j]));
      w[1 + j] = -std::exp(log_rate);
    }
  }

  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override {
    for (Index i = 0; i < n; ++i) {
      out[i] = 0;
      for (Index j = 0; j < d_; ++j)
        out[i] += gain(j, posterior_shape(t, j), posterior_rate(t, j), s_[j] * phi[i * ld + gaps_.at(j)],
                       phi[i * ld + 1 + j]);
    }
  }

  NamedArrays posterior(const double* t, Index k) const override {
    NamedArray a{"a", {}, {k, d_}}, b{"b", {}, {k, d_}};
    for (Index j = 0; j < d_; ++j)
      for (Index i = 0; i < k; ++i) {
        a.value.push_back(posterior_shape(t + i * n_features(), j));
        b.value.push_back(posterior_rate(t + i * n_features(), j));
      }
    return {a, b, shapes(k)};
  }

  NamedArrays mean_parameters(const double* t, Index k) const override {
    const NamedArrays q = posterior(t, k);
    NamedArray out{"rate", q[0].value, q[0].dim};
    for (std::size_t i = 0; i < out.value.size(); ++i) out.value[i] /= q[1].value[i];
    return {out, shapes(k)};
  }

 private:
  // log ∫ Π [θ^s e^(−θx) s^(−s) e^s] Gamma(θ | a, b) dθ for values whose shapes sum to `more` and which
  // themselves sum to x. With m = s b / a and m̂ = s (b + x) / (a + more) this is
  // remainder(a + more) − remainder(a) − a log(m̂/m) − more log m̂.
  double gain(Index j, double a, double b, double more, double x) const {
    const double growth = std::log1p(x / b) - std::log1p(more / a);
    return stirling_remainder(a + more) - stirling_remainder(a) - a * growth -
           more * std::log(s_[j] / (a + more) * (b + x));
  }

  // S ≥ 0 in exact arithmetic, but rounding in sums and differences of summaries can make it negative.
  static double sum(const double* t, Index j) { return std::max(t[1 + j], 0.0); }
  double posterior_shape(const double* t, Index j) const { return a_[j] + s_[j] * gaps_.count(t, j); }
  double posterior_rate(const double* t, Index j) const { return b_[j] + sum(t, j); }

  NamedArray shapes(Index k) const {
    NamedArray out{"shape", {}, {k, d_}};
    for (double s : s_) out.value.insert(out.value.end(), static_cast<std::size_t>(k), s);
    return out;
  }

  Index d_;
  Vec s_, a_, b_;
  ColumnGaps gaps_;
};

}  // namespace

std::unique_ptr<ObsModel> make_gamma(const Fields& f) {
  const Vec a = of_columns(f, "a");
  const auto k = static_cast<Index>(a.size());
  return std::make_unique<GammaTimes>(
      GammaTimesPrior{f.numbers("shape", k), a, f.numbers("b", k), counts_cells(f)});
}

}  // namespace bnpvi
