#include "observations/tangent_rows.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "foundation/special.h"
#include "kernels/kernels.h"
#include "kernels/tangent_kernels.h"
#include "observations/linalg.h"

namespace bnpvi {

double TangentLayout::shift(Index g) const { return size.empty() ? 0 : -std::log(size[g]); }

double LogisticTerm::log_likelihood(double psi) const {
  return constant + kappa * psi - m * (0.5 * std::abs(psi) + log_1p_exp(-std::abs(psi)));
}

namespace {

// The maximum over z of log p(y | mean + sd z) − z²/2, which is concave, by Newton's method within a
// bracket.
double highest(const LogisticTerm& term, double mean, double sd) {
  const auto slope = [&](double z) {
    return sd * (term.kappa - 0.5 * term.m * std::tanh(0.5 * (mean + sd * z))) - z;
  };
  const double first = slope(0);
  double from = std::min(0.0, first), to = std::max(0.0, first), z = 0;
  for (int round = 0; round < 100 && to - from > 1e-8 * (1 + std::abs(z)); ++round) {
    const double t = std::tanh(0.5 * (mean + sd * z)), s = slope(z);
    (s > 0 ? from : to) = z;
    z += s / (1 + 0.25 * sd * sd * term.m * (1 - t * t));
    if (!(z > from && z < to)) z = 0.5 * (from + to);
  }
  return z;
}

}  // namespace

double logistic_evidence(const LogisticTerm& term, double& mean, double& variance) {
  constexpr double reach = 8.5, widest = 0.5;  // standard deviations; e^(−reach²/2) is 2e-16
  constexpr double enough = 27;  // −log of the error from the distance of poles or a peak's width
  constexpr double most = 2000;  // largest number of nodes
  const double sd = std::sqrt(std::max(variance, 0.0)), pi = std::acos(-1.0);
  if (!(sd > 1e-12)) return term.log_likelihood(mean);
  const double pole = 2 * pi * pi / enough, peak = pi * std::sqrt(2 / enough) * 2 / std::sqrt(1 + term.m);
  const double step = std::max(std::min(widest, std::min(pole, peak) / sd), 2 * reach / most);
  const double middle = highest(term, mean, sd);
  const auto nodes = static_cast<Index>(reach / step);
  Vec log_weight;
  double top = -INFINITY;
  for (Index i = -nodes; i <= nodes; ++i) {
    const double z = middle + static_cast<double>(i) * step;
    log_weight.push_back(term.log_likelihood(mean + sd * z) - 0.5 * z * z);
    top = std::max(top, log_weight.back());
  }
  double sum = 0, first = 0, second = 0;
  for (Index i = -nodes; i <= nodes; ++i) {
    const double z = static_cast<double>(i) * step, w = std::exp(log_weight[i + nodes] - top);
    sum += w;
    first += w * z;
    second += w * z * z;
  }
  first /= sum;
  mean += sd * (middle + first);
  variance *= std::max(second / sum - first * first, 0.0);
  return top + std::log(sum * step) - 0.5 * log_2pi;
}

namespace {

double log_choose(double n, double y) {
  return n <= 1 ? 0 : log_gamma(n + 1) - log_gamma(y + 1) - log_gamma(n - y + 1);
}

}  // namespace

void TangentRows::write(const double* cells, double* row) const {
  const double y = cells[0], trials = layout.size.empty() ? (layout.responses == 2 ? y + cells[1] : 1) : 0;
  const double* at = cells + layout.responses;
  row[0] = 1;
  row[1] = y;
  row[2] = trials;
  row[3] = layout.has_offset ? *at++ : 0;
  for (Index g = 0; g < layout.sizes(); ++g) {
    const double s = layout.size.empty() ? 0 : layout.size[g];
    row[4 + g] = layout.size.empty() ? log_choose(trials, y) : -log_gamma_difference(s, y) - log_gamma(y + 1);
  }
  double* x = row + regressors;
  if (layout.intercept) *x++ = 1;
  for (std::size_t j = 0; j < layout.unit.size(); ++j) x[j] = (at[j] - layout.centre[j]) / layout.unit[j];
}

LogisticTerm TangentRows::term(const double* row, Index g) const {
  const double y = row[1], offset = row[3] + layout.shift(g);
  if (layout.size.empty()) return {row[2], y - 0.5 * row[2], row[4], offset};
  const double s = layout.size[g];
  return {y + s, 0.5 * (y - s), row[4 + g], offset};
}

namespace {

constexpr Index step = 128;  // rows at a time: a guess

// Reduced weights of a cluster, for each size: its probability, E b and (2 − δ) E bb' (packed).
struct ReducedWeights {
  explicit ReducedWeights(const TangentLayout& layout)
      : mean(1), second(1 + layout.regressors()), width(second + layout.squares()) {}

  Index of(Index g) const { return 1 + g * width; }

  Index mean, second, width;
};

class TangentPattern final : public MissingPattern {
 public:
  TangentPattern(const TangentLayout& layout, Index rows, const TangentPredictive& predictive)
      : layout_(layout), rows_of_(layout), weights_(layout), rows_(rows), predictive_(predictive) {}

  Index n_features() const override { return rows_ * rows_of_.width; }
  Index n_weights() const override { return weights_.of(layout_.sizes()); }

  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    const Index d = layout_.columns();
    Vec cells(static_cast<std::size_t>(d));
    for (Index i = 0; i < n; ++i)
      for (Index l = 0; l < rows_; ++l) {
        const double* own = cells.data();
        if (layout_.individuals)
          own = data.value + data.row_start[rows[i]] + l * d;
        else
          for (Index j = 0; j < d; ++j) cells[j] = data.dense[j * data.n + rows[i]];
        rows_of_.write(own, phi + i * ld + l * rows_of_.width);
      }
  }

  // A size without weight, as occurs at a point estimate, gets the tangents of the most probable size.
  void weights(const double* w, double* reduced) const override {
    Index best = 0;
    for (Index g = 1; g < layout_.sizes(); ++g)
      if (w[layout_.constant(g)] > w[layout_.constant(best)]) best = g;
    reduced[0] = w[0];
    for (Index g = 0; g < layout_.sizes(); ++g) {
      double* own = reduced + weights_.of(g);
      const Index from = w[layout_.constant(g)] > 0 ? g : best;
      const double q = w[layout_.constant(from)], share = q > 0 ? 1 / q : 0;
      own[0] = w[layout_.constant(g)];
      for (Index j = 0; j < layout_.regressors(); ++j)
        own[weights_.mean + j] = w[layout_.linear(from) + j] * share;
      for (Index j = 0; j < layout_.squares(); ++j)
        own[weights_.second + j] = -2 * w[layout_.quadratic(from) + j] * share;
    }
  }

  void products(Index n, const double* phi, Index k, const double* reduced, double* out) const override {
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < k; ++j) out[i * k + j] = reduced[j * n_weights()];
    Block block(*this, k);
    const Index all = n * rows_;
    for (Index from = 0; from < all; from += step) {
      block.load(phi + from * rows_of_.width, std::min(step, all - from));
      for (Index g = 0; g < layout_.sizes(); ++g) {
        block.predict(g, reduced);
        block.bound();
        for (Index j = 0; j < k; ++j) block.share[j] = reduced[j * n_weights() + weights_.of(g)];
        for (Index i = 0; i < block.n; ++i) {
          double* to = out + (from + i) / rows_ * k;
          const double *own = block.turned.data() + i * k, constant = block.constant[i];
          for (Index j = 0; j < k; ++j) to[j] += block.share[j] * (constant + own[j]);
        }
      }
    }
  }

  void expand(const double*, const double*, double*) const override {
    throw std::logic_error("internal error: rows with tangents are not linear");
  }

  void add(Index n, const double* phi, Index k, const double* r, const double* const* w,
           double* const* t) const override {
    Vec reduced(static_cast<std::size_t>(k * n_weights()));
    for (Index j = 0; j < k; ++j) weights(w[j], reduced.data() + j * n_weights());
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < k; ++j) t[j][0] += r[i * k + j];
    Block block(*this, k);
    const Index all = n * rows_;
    for (Index from = 0; from < all; from += step) {
      block.load(phi + from * rows_of_.width, std::min(step, all - from));
      block.take_masses(r, from, rows_);
      for (Index g = 0; g < layout_.sizes(); ++g) {
        block.predict(g, reduced.data());
        block.add(g, t);
      }
    }
  }

  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override {
    for (Index i = 0; i < n; ++i) out[i] = predictive_.predictive(t, phi + i * ld, rows_);
  }

 private:
  // Some rows, and k clusters with arrays of `step` numbers for each.
  struct Block {
    Block(const TangentPattern& pattern, Index k)
        : p(pattern), k(k), outer(static_cast<std::size_t>(step * p.layout_.squares())) {
      for (Vec* v : {&m, &kappa, &constant, &offset}) v->resize(static_cast<std::size_t>(step));
      for (Vec* v : {&linear, &square, &turned}) v->resize(static_cast<std::size_t>(step * k));
      share.resize(static_cast<std::size_t>(k));
    }

    const double* row(Index i) const { return rows + i * p.rows_of_.width; }

    void load(const double* first, Index count) {
      rows = first;
      n = count;
      kernels().packed_outer(n, p.layout_.regressors(), rows + p.rows_of_.regressors, p.rows_of_.width,
                             outer.data(), p.layout_.squares());
    }

    // For each row its LogisticTerm for this size, and E x'b and E (x'b)² in each cluster.
    void predict(Index g, const double* reduced) {
      const Index squares = p.layout_.squares(), ld = p.n_weights();
      const double* own = reduced + p.weights_.of(g);
      for (Index i = 0; i < n; ++i) {
        const LogisticTerm term = p.rows_of_.term(row(i), g);
        m[i] = term.m;
        kappa[i] = term.kappa;
        constant[i] = term.constant;
        offset[i] = term.offset;
      }
      kernels().product_nt(k, n, p.layout_.regressors(), own + p.weights_.mean, ld,
                           rows + p.rows_of_.regressors, p.rows_of_.width, linear.data(), step);
      kernels().product_nt(k, n, squares, own + p.weights_.second, ld, outer.data(), squares, square.data(),
                           step);
    }

    // The highest tangent bounds of the expected log likelihoods, without their constants, by row.
    void bound() {
      for (Index j = 0; j < k; ++j)
        tangent_kernels().bounds(n, m.data(), kappa.data(), offset.data(), linear.data() + j * step,
                                 square.data() + j * step, square.data() + j * step);
      kernels().transpose_rows(k, n, square.data(), step, turned.data(), k);
    }

    // masses: of units; the first row of this block is row `from` of all rows.
    void take_masses(const double* masses, Index from, Index rows_of_unit) {
      for (Vec* v : {&r, &pull, &omega, &curve}) v->resize(static_cast<std::size_t>(step * k));
      sum.resize(static_cast<std::size_t>(k * p.layout_.squares()));
      if (rows_of_unit == 1) return kernels().transpose_rows(n, k, masses + from * k, k, r.data(), step);
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < k; ++j) r[j * step + i] = masses[(from + i) / rows_of_unit * k + j];
    }

    void add(Index g, double* const* t) {
      const TangentLayout& at = p.layout_;
      for (Index j = 0; j < k; ++j) {
        const Index from = j * step;
        double& to = t[j][at.constant(g)];
        to += tangent_kernels().tangents(n, m.data(), kappa.data(), offset.data(), linear.data() + from,
                                         square.data() + from, r.data() + from, pull.data() + from,
                                         omega.data() + from, curve.data() + from);
        for (Index i = 0; i < n; ++i) to += r[from + i] * constant[i];
      }
      sum_up(pull, at.regressors(), rows + p.rows_of_.regressors, p.rows_of_.width, at.linear(g), t);
      sum_up(omega, at.squares(), outer.data(), at.squares(), at.quadratic(g), t);
      sum_up(curve, at.squares(), outer.data(), at.squares(), at.curvature(g), t);
    }

    void sum_up(const Vec& of_clusters, Index width, const double* a, Index lda, Index at, double* const* t) {
      std::fill_n(sum.begin(), k * width, 0.0);
      kernels().transpose_rows(k, n, of_clusters.data(), step, turned.data(), k);
      kernels().add_product_tn(n, k, width, turned.data(), k, a, lda, sum.data(), width);
      for (Index j = 0; j < k; ++j)
        for (Index v = 0; v < width; ++v) t[j][at + v] += sum[j * width + v];
    }

    const TangentPattern& p;
    Index k, n = 0;
    const double* rows = nullptr;
    Vec outer;
    Vec m, kappa, constant, offset;                                 // by row
    Vec linear, square, r, pull, omega, curve, turned, sum, share;  // by cluster and row
  };

  const TangentLayout& layout_;
  TangentRows rows_of_;
  ReducedWeights weights_;
  Index rows_;
  const TangentPredictive& predictive_;
};

}  // namespace

std::unique_ptr<const MissingPattern> make_tangent_pattern(const TangentLayout& layout, Index rows,
                                                           const TangentPredictive& predictive) {
  return std::make_unique<TangentPattern>(layout, rows, predictive);
}

}  // namespace bnpvi
