#include "tilt/tilt.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "foundation/lbfgs.h"
#include "foundation/special.h"
#include "kernels/kernels.h"
#include "observations/linalg.h"
#include "tilt/weight_posterior.h"

namespace bnpvi {

namespace {

constexpr int max_rounds = 200;
// A round that gains less than this for each row ends the search; _on: if it began at an earlier result.
constexpr double least_gain = 1e-10, least_gain_on = 1e-7;
constexpr double tol = 1e-9, tol_on = 1e-7;    // tolerances of L-BFGS
constexpr double least_rows = 1e-12;           // least number of rows of a pattern that counts
constexpr int all_steps = 200, few_steps = 8;  // of L-BFGS in a round; the few are a guess

// The bound as a function of q, at fixed counts.
class TiltSearch {
 public:
  TiltSearch(const TiltPrior& prior, const Vec& counts)
      : prior_(prior),
        k_(static_cast<Index>(counts.size()) / (1 + prior.patterns)),
        base_width_(prior.finite ? 1 : 2),
        has_rest_(prior.rest),
        rows_(static_cast<std::size_t>(prior.patterns), 0.0),
        size_(static_cast<std::size_t>(k_)),
        moment_(static_cast<std::size_t>(k_ * prior.columns), 0.0) {
    for (Index j = 0; j < k_; ++j) {
      const double* own = counts.data() + j * (1 + prior.patterns);
      size_[j] = own[0];
      for (Index c = 0; c < prior.patterns; ++c) {
        rows_[c] += own[1 + c];
        for (Index i = 0; i < prior.columns; ++i) moment_[j * prior.columns + i] += own[1 + c] * x(c)[i];
      }
    }
    for (Index c = 0; c < prior.patterns; ++c)
      if (rows_[c] > least_rows) with_rows_.push_back(c);
    if (static_cast<Index>(prior.pull.size()) != k_ * (1 + prior.columns)) return;
    for (Index j = 0; j < k_; ++j) {
      const double* own = prior.pull.data() + j * (1 + prior.columns);
      size_[j] += own[0];
      for (Index i = 0; i < prior.columns; ++i) moment_[j * prior.columns + i] += own[1 + i];
    }
  }

  void start_untilted() {
    base_ = untilted_weights(prior_, size_);
    mean_.assign(moment_.size(), 0.0);
    precision_.assign(static_cast<std::size_t>(k_ * prior_.columns * prior_.columns), 0.0);
    for (Index j = 0; j < k_; ++j)
      for (Index i = 0; i < prior_.columns; ++i) precision(j)[i * (prior_.columns + 1)] = 1 / prior_.variance;
    factorise();
  }

  void start(const Tilt& q) {
    const Index p = prior_.columns, width = tilt_width(prior_);
    base_.clear();
    mean_.clear();
    precision_.assign(static_cast<std::size_t>(k_ * p * p), 0.0);
    for (Index j = 0; j < k_; ++j) {
      const double* own = q.data() + j * width;
      base_.insert(base_.end(), own, own + base_width_);
      mean_.insert(mean_.end(), own + base_width_, own + base_width_ + p);
      for (Index i = 0; i < p; ++i)
        for (Index l = 0; l < p; ++l) precision(j)[i * p + l] = own[base_width_ + p + packed(i, l)];
    }
    if (has_rest_) base_.push_back(q.back());
    factorise();
  }

  Tilt result() const {
    const Index p = prior_.columns;
    Tilt out;
    for (Index j = 0; j < k_; ++j) {
      out.insert(out.end(), base_.begin() + j * base_width_, base_.begin() + (j + 1) * base_width_);
      out.insert(out.end(), mean_.begin() + j * p, mean_.begin() + (j + 1) * p);
      for (Index i = 0; i < p; ++i)
        for (Index l = 0; l <= i; ++l) out.push_back(precision(j)[i * p + l]);
    }
    if (has_rest_) out.push_back(base_.back());
    return out;
  }

  RoundedSum value() const {
    const WeightPosterior base(prior_, base_, size_);
    RoundedSum out = base.value();
    out.add(tilted_part(base.log_mean(), nullptr, nullptr));
    out.add(spread_part());
    return out;
  }

  double rows() const { return std::accumulate(rows_.begin(), rows_.end(), 0.0); }
  // Returns the gain of the round; 0 if there are no covariates.
  double round(int steps, double tolerance = tol) {
    if (prior_.columns == 0) return 0;
    const double before = value().value();
    widen(before);
    return climb(steps, tolerance) - before;
  }

  Vec shares(Vec* log_normalisers) const {
    const Vec log_mean = WeightPosterior(prior_, base_, size_).log_mean();
    Vec out, share;
    for (Index c = 0; c < prior_.patterns; ++c) {
      const double log_z = bracket(log_mean, c, share);
      if (log_normalisers) log_normalisers->push_back(log_z);
      out.insert(out.end(), share.begin(), share.end());
    }
    return out;
  }

 private:
  const double* x(Index c) const { return prior_.x.data() + c * prior_.columns; }
  double* precision(Index j) { return precision_.data() + j * prior_.columns * prior_.columns; }
  const double* precision(Index j) const { return precision_.data() + j * prior_.columns * prior_.columns; }

  // Updates all that depends on the precisions.
  void factorise() {
    const Index p = prior_.columns;
    factor_.clear();
    half_variance_.assign(static_cast<std::size_t>(prior_.patterns * k_), 0.0);
    spread_ = 0;
    if (p == 0) return;
    for (Index j = 0; j < k_; ++j) {
      const Cholesky chol(precision(j), p);
      factor_.push_back(chol.inverse_factor());
      const Vec& inverse = factor_.back();
      double trace = 0;
      for (double v : inverse) trace += v * v;
      spread_ += 0.5 * (static_cast<double>(p) - chol.log_det(0, p) -
                        static_cast<double>(p) * std::log(prior_.variance) - trace / prior_.variance);
      for (Index c = 0; c < prior_.patterns; ++c) {
        double sum = 0;
        for (Index i = 0; i < p; ++i) {
          double entry = 0;
          for (Index l = 0; l <= i; ++l) entry += inverse[i * p + l] * x(c)[l];
          sum += entry * entry;
        }
        half_variance_[c * k_ + j] = sum / 2;
      }
    }
  }

  // −Σ KL of the effects from their prior.
  RoundedSum spread_part() const {
    RoundedSum out;
    out.add(spread_);
    for (double m : mean_) out.add(-0.5 * m * m / prior_.variance);
    return out;
  }

  // Returns log Z̄_c; share: receives ρ_c, K + 1 numbers.
  double bracket(const Vec& log_mean, Index c, Vec& share) const {
    const Index p = prior_.columns;
    const double* half = half_variance_.data() + c * k_;
    share.resize(static_cast<std::size_t>(k_ + 1));
    for (Index j = 0; j < k_; ++j) {
      double tilt = half[j];
      for (Index i = 0; i < p; ++i) tilt += x(c)[i] * mean_[j * p + i];
      share[j] = log_mean[j] + tilt;
    }
    share[k_] = log_mean[k_];
    const double top = *std::max_element(share.begin(), share.end());
    double sum = 0;
    for (double& s : share) sum += s = std::exp(s - top);
    for (double& s : share) s /= sum;
    return top + std::log(sum);
  }

  // The brackets of all patterns with rows: their shares, pattern by pattern (`width` numbers each: K, or
  // K + 1 if there is a rest), and their logarithms. Valid until the next call, which uses the same memory.
  struct Brackets {
    Index width = 0;
    Vec shares, log_z;
  };
  const Brackets& brackets(const Vec& log_mean) const {
    const Index p = prior_.columns;
    const Index width = log_mean[k_] == -INFINITY ? k_ : k_ + 1;
    Brackets& out = brackets_;
    out.width = width;
    out.shares.resize(with_rows_.size() * static_cast<std::size_t>(width));
    out.log_z.resize(with_rows_.size());
    double* at = out.shares.data();
    for (Index c : with_rows_) {
      const double* half = half_variance_.data() + c * k_;
      for (Index j = 0; j < k_; ++j) {
        double tilt = half[j];
        for (Index i = 0; i < p; ++i) tilt += x(c)[i] * mean_[j * p + i];
        at[j] = log_mean[j] + tilt;
      }
      if (width > k_) at[k_] = log_mean[k_];
      at += width;
    }
    kernels().softmax_rows(static_cast<Index>(with_rows_.size()), width, out.shares.data(), width, 0,
                           out.log_z.data());
    return out;
  }

  // Σ N_ck x_c'm_k − Σ n_c log Z̄_c. by_mean: receives its gradient by the means; reached: receives Σ_c n_c
  // ρ_ck, K + 1 numbers.
  RoundedSum tilted_part(const Vec& log_mean, Vec* by_mean, Vec* reached) const {
    const Index p = prior_.columns;
    RoundedSum out;
    const Brackets& of = brackets(log_mean);
    for (std::size_t i = 0; i < mean_.size(); ++i) out.add(moment_[i] * mean_[i]);
    if (by_mean) *by_mean = moment_;
    if (reached) reached->assign(static_cast<std::size_t>(k_ + 1), 0.0);
    const double* share = of.shares.data();
    for (std::size_t a = 0; a < with_rows_.size(); ++a, share += of.width) {
      const Index c = with_rows_[a];
      out.add(-rows_[c] * of.log_z[a]);
      if (!by_mean) continue;
      for (Index j = 0; j < k_; ++j) {
        const double mass = rows_[c] * share[j];
        (*reached)[j] += mass;
        for (Index i = 0; i < p; ++i) (*by_mean)[j * p + i] -= mass * x(c)[i];
      }
      if (of.width > k_) (*reached)[k_] += rows_[c] * share[k_];
    }
    return out;
  }

  // Moves the precisions towards their fixed point from the value `before`; the brackets must be up to date.
  void widen(double before) {
    const Index p = prior_.columns;
    const Vec old = precision_;
    Vec goal(old.size(), 0.0);
    for (Index j = 0; j < k_; ++j)
      for (Index i = 0; i < p; ++i) goal[j * p * p + i * (p + 1)] = 1 / prior_.variance;
    const double* share = brackets_.shares.data();
    for (std::size_t a = 0; a < with_rows_.size(); ++a, share += brackets_.width) {
      const Index c = with_rows_[a];
      for (Index j = 0; j < k_; ++j)
        for (Index i = 0; i < p; ++i)
          for (Index l = 0; l < p; ++l)
            goal[j * p * p + i * p + l] += rows_[c] * share[j] * x(c)[i] * x(c)[l];
    }
    for (double step = 1; step > 1e-3; step /= 2) {
      for (std::size_t i = 0; i < old.size(); ++i) precision_[i] = (1 - step) * old[i] + step * goal[i];
      factorise();
      if (value().value() >= before) return;
    }
    precision_ = old;
    factorise();
  }

  // L-BFGS on q(π) and the means, each in units of its standard deviation; returns the value.
  double climb(int steps, double tolerance) {
    const Index p = prior_.columns;
    const Vec base_from = base_, mean_from = mean_;
    const WeightSteps scales(prior_, base_from);
    const Index n_base = static_cast<Index>(base_from.size());
    Vec at(static_cast<std::size_t>(n_base + k_ * p), 0.0), by_mean, reached;
    const auto take = [&](const Vec& v) {
      base_ = scales.moved(v.data());
      for (Index j = 0; j < k_; ++j)
        for (Index i = 0; i < p; ++i) {
          double step = 0;
          for (Index l = i; l < p; ++l) step += factor_[j][l * p + i] * v[n_base + j * p + l];
          mean_[j * p + i] = mean_from[j * p + i] + step;
        }
    };
    const double out = maximise(
        [&](const Vec& v, Vec& gradient) {
          take(v);
          const WeightPosterior base(prior_, base_, size_);
          RoundedSum sum = base.value();
          sum.add(tilted_part(base.log_mean(), &by_mean, &reached));
          sum.add(spread_part());
          scales.gradient(base, reached, gradient.data());
          for (std::size_t i = 0; i < mean_.size(); ++i) by_mean[i] -= mean_[i] / prior_.variance;
          for (Index j = 0; j < k_; ++j)
            for (Index l = 0; l < p; ++l) {
              double slope = 0;
              for (Index i = 0; i <= l; ++i) slope += factor_[j][l * p + i] * by_mean[j * p + i];
              gradient[n_base + j * p + l] = slope;
            }
          return sum;
        },
        at, tolerance, steps);
    take(at);
    return out;
  }

  const TiltPrior& prior_;
  const Index k_, base_width_;
  const bool has_rest_;
  Vec rows_;                      // n_c
  std::vector<Index> with_rows_;  // patterns c with n_c > 0, up to rounding
  Vec size_;                      // N_k
  Vec moment_;                    // Σ_c N_ck x_c, K × P

  Vec base_;       // K × base_width_, and the rest's parameter
  Vec mean_;       // K × P
  Vec precision_;  // K × P × P

  std::vector<Vec> factor_;  // L⁻¹ with S⁻¹ = L Lᵀ
  Vec half_variance_;        // ½ x'S x, C × K
  double spread_ = 0;        // part of the effects' KL that does not depend on the means
  mutable Brackets brackets_;
};

// True where the search starts at `near`.
bool start_near(const TiltPrior& prior, const Vec& counts, const Tilt& near, TiltSearch& search) {
  const Index k = static_cast<Index>(counts.size()) / (1 + prior.patterns);
  const bool begun = static_cast<Index>(near.size()) == tilt_numbers(prior, k) && prior.columns > 0;
  begun ? search.start(near) : search.start_untilted();
  return begun;
}

}  // namespace

double tilt_value(const TiltPrior& prior, const Vec& counts, const Tilt& q) {
  TiltSearch search(prior, counts);
  search.start(q);
  return search.value().value();
}

Tilt best_tilt(const TiltPrior& prior, const Vec& counts, const Tilt& near) {
  TiltSearch search(prior, counts);
  const bool on = start_near(prior, counts, near, search);
  const double enough = (on ? least_gain_on : least_gain) * std::max(1.0, search.rows());
  for (int round = 0; round < max_rounds; ++round)
    if (search.round(all_steps, on ? tol_on : tol) <= enough) break;
  return search.result();
}

Tilt rough_tilt(const TiltPrior& prior, const Vec& counts, const Tilt& near) {
  TiltSearch search(prior, counts);
  start_near(prior, counts, near, search);
  search.round(few_steps);
  return search.result();
}

Vec tilt_shares(const TiltPrior& prior, const Tilt& q, Vec* log_normalisers) {
  const std::size_t k = static_cast<std::size_t>(tilted_clusters(prior, q));
  const Vec nothing(k * static_cast<std::size_t>(1 + prior.patterns), 0.0);
  TiltSearch search(prior, nothing);
  search.start(q);
  return search.shares(log_normalisers);
}

}  // namespace bnpvi
