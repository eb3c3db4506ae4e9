#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "foundation/special.h"
#include "foundation/variates.h"
#include "observations/capabilities.h"
#include "observations/gather.h"
#include "observations/obs_beta.h"
#include "observations/obs_models.h"

namespace bnpvi {

namespace {

// φ = (1, s_1, f_1, s_2, f_2, ...), numbers of successes and failures; h(x) = Π_j
// (s_j + f_j)! / (s_j! f_j!), the number of their orders.
class Binomial final : public BetaModel, public BaseMeasure {
 public:
  Binomial(const Vec& a, const Vec& b) : BetaModel(a, b) {}

  Index n_features() const override { return 1 + 2 * columns(); }
  Index n_columns() const override { return 2 * columns(); }
  Capabilities capabilities() const override {
    Capabilities out;
    out.linear = true;
    out.base = this;
    return out;
  }

  void log_base(const Dataset& data, const Index* rows, Index n, double* out) const override {
    if (data.sparse()) throw std::invalid_argument("this observation model needs dense data");
    std::fill(out, out + n, 0.0);
    for (Index j = 0; j < columns(); ++j) {
      const double *success = data.dense + 2 * j * data.n, *failure = success + data.n;
      for (Index i = 0; i < n; ++i) {
        const double s = success[rows[i]], f = failure[rows[i]];
        if (s > 0 && f > 0) out[i] -= std::log(s + f + 1) + log_beta(s + 1, f + 1);
      }
    }
  }

  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    gather_linear(data, rows, n, phi, ld);
  }

  void weights(const double* t, double* w) const override {
    w[0] = 0;
    for (Index j = 0; j < columns(); ++j) {
      const double one = ones(t, j), zero = zeros(t, j);
      w[1 + 2 * j] = digamma_difference(one, zero);
      w[2 + 2 * j] = digamma_difference(zero, one);
    }
  }

  // E[p] under the posterior, times the mean number of trials of a row (1 in a cluster without trials).
  void point_estimate(const double* t, double* mean, double* w) const override {
    mean[0] = 1;
    w[0] = 0;
    for (Index j = 0; j < columns(); ++j) {
      const double one = ones(t, j), zero = zeros(t, j), all = one + zero;
      const double trials = count_ones(t, j) + count_zeros(t, j);
      const double each = t[0] > 0 && trials > 0 ? trials / t[0] : 1;
      mean[1 + 2 * j] = each * one / all;
      mean[2 + 2 * j] = each * zero / all;
      w[1 + 2 * j] = std::log(one / all);
      w[2 + 2 * j] = std::log(zero / all);
    }
  }

  void draw(const double* t, Stream& stream, double* w) const override {
    w[0] = 0;
    for (Index j = 0; j < columns(); ++j) {
      const LogBeta drawn = draw_log_beta(ones(t, j), zeros(t, j), stream);
      w[1 + 2 * j] = drawn.log_x;
      w[2 + 2 * j] = drawn.log_rest;
    }
  }

  // Beta-binomial, without its binomial coefficient.
  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override {
    for (Index i = 0; i < n; ++i) {
      const double* x = phi + i * ld + 1;
      out[i] = 0;
      for (Index j = 0; j < columns(); ++j)
        out[i] += log_beta_gain(ones(t, j), zeros(t, j), x[2 * j], x[2 * j + 1]);
    }
  }

 protected:
  double count_ones(const double* t, Index j) const override { return std::max(t[1 + 2 * j], 0.0); }
  double count_zeros(const double* t, Index j) const override { return std::max(t[2 + 2 * j], 0.0); }
};

}  // namespace

std::unique_ptr<ObsModel> make_binomial(const Fields& f) {
  const Vec a = of_columns(f, "a");
  return std::make_unique<Binomial>(a, f.numbers("b", static_cast<Index>(a.size())));
}

}  // namespace bnpvi
