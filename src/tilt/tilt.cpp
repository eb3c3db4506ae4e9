#include "tilt/tilt.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "foundation/lbfgs.h"
#include "foundation/special.h"
#include "observations/linalg.h"
#include "tilt/tilt_brackets.h"
#include "tilt/weight_posterior.h"

namespace bnpvi {

namespace {

constexpr int max_rounds = 200;
// A round that gains less than this for each row ends the search; _on: if it began at an earlier result.
constexpr double least_gain = 1e-10, least_gain_on = 1e-7;
constexpr double tol = 1e-9, tol_on = 1e-7;    // tolerances of L-BFGS
constexpr int all_steps = 200, few_steps = 8;  // of L-BFGS in a round; the few are a guess
// A rough search ends at a gradient below this by one standard deviation: 5e-4 nats are left. A guess.
constexpr double rough_slope = 0.03;

// n_c, the number of rows of each pattern.
Vec rows_of(const TiltPrior& prior, const Vec& counts) {
  const Index width = 1 + prior.patterns;
  Vec out(static_cast<std::size_t>(prior.patterns), 0.0);
  for (std::size_t from = 0; from < counts.size(); from += static_cast<std::size_t>(width))
    for (Index c = 0; c < prior.patterns; ++c) out[c] += counts[from + 1 + static_cast<std::size_t>(c)];
  return out;
}

// The bound as a function of q, at fixed counts.
class TiltSearch {
 public:
  TiltSearch(const TiltPrior& prior, const Vec& counts) : TiltSearch(prior, counts, rows_of(prior, counts)) {}

  // rows: numbers of rows of the patterns that take the place of those of the counts.
  TiltSearch(const TiltPrior& prior, const Vec& counts, const Vec& rows)
      : prior_(prior),
        k_(static_cast<Index>(counts.size()) / (1 + prior.patterns)),
        base_width_(prior.finite ? 1 : 2),
        has_rest_(prior.rest),
        rows_(std::accumulate(rows.begin(), rows.end(), 0.0)),
        size_(static_cast<std::size_t>(k_)),
        moment_(static_cast<std::size_t>(k_ * prior.columns), 0.0),
        brackets_(prior, k_, rows) {
    const Index width = 1 + prior.patterns;
    for (Index j = 0; j < k_; ++j) size_[j] = counts[j * width];
    for (Index c = 0; c < prior.patterns; ++c)
      for (Index j = 0; j < k_; ++j)
        for (Index i = 0; i < prior.columns; ++i)
          moment_[j * prior.columns + i] += counts[j * width + 1 + c] * prior.x[c * prior.columns + i];
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

  double rows() const { return rows_; }
  // Returns the gain of the round; 0 if there are no covariates.
  double round(int steps, double tolerance) {
    if (prior_.columns == 0) return 0;
    const double before = value().value();
    widen(before);
    return climb(steps, tolerance) - before;
  }
  void rough_round() {
    if (prior_.columns == 0) return;
    const double before = value().value();
    widen(before);
    climb(few_steps, rough_slope / (1 + std::abs(before)));
  }

  Vec shares(Vec* log_normalisers) const {
    brackets_.evaluate(WeightPosterior(prior_, base_, size_).log_mean(), mean_);
    return brackets_.shares(log_normalisers);
  }

 private:
  double* precision(Index j) { return precision_.data() + j * prior_.columns * prior_.columns; }
  const double* precision(Index j) const { return precision_.data() + j * prior_.columns * prior_.columns; }

  // Updates all that depends on the precisions.
  void factorise() {
    const Index p = prior_.columns;
    factor_.clear();
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
      brackets_.set_variance(j, inverse);
    }
  }

  // −Σ KL of the effects from their prior.
  RoundedSum spread_part() const {
    RoundedSum out;
    out.add(spread_);
    for (double m : mean_) out.add(-0.5 * m * m / prior_.variance);
    return out;
  }

  // Σ N_ck x_c'm_k − Σ n_c log Z̄_c. by_mean: receives its gradient by the means; reached: receives Σ_c n_c
  // ρ_ck, K + 1 numbers.
  RoundedSum tilted_part(const Vec& log_mean, Vec* by_mean, Vec* reached) const {
    RoundedSum out = brackets_.evaluate(log_mean, mean_);
    for (std::size_t i = 0; i < mean_.size(); ++i) out.add(moment_[i] * mean_[i]);
    if (!by_mean) return out;
    *by_mean = moment_;
    brackets_.sums(*reached, *by_mean);
    return out;
  }

  // Moves the precisions towards their fixed point from the value `before`; the brackets must be up to date.
  void widen(double before) {
    const Index p = prior_.columns;
    const Vec old = precision_;
    Vec goal(old.size(), 0.0);
    for (Index j = 0; j < k_; ++j)
      for (Index i = 0; i < p; ++i) goal[j * p * p + i * (p + 1)] = 1 / prior_.variance;
    brackets_.add_squares(goal);
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
  const double rows_;  // Σ_c n_c
  Vec size_;           // N_k
  Vec moment_;         // Σ_c N_ck x_c, K × P

  Vec base_;       // K × base_width_, and the rest's parameter
  Vec mean_;       // K × P
  Vec precision_;  // K × P × P

  std::vector<Vec> factor_;  // L⁻¹ with S⁻¹ = L Lᵀ
  double spread_ = 0;        // part of the effects' KL that does not depend on the means
  mutable TiltBrackets brackets_;
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
  search.rough_round();
  return search.result();
}

Vec tilt_shares(const TiltPrior& prior, const Tilt& q, Vec* log_normalisers) {
  const std::size_t k = static_cast<std::size_t>(tilted_clusters(prior, q));
  const Vec nothing(k * static_cast<std::size_t>(1 + prior.patterns), 0.0);
  TiltSearch search(prior, nothing, Vec(static_cast<std::size_t>(prior.patterns), 1.0));
  search.start(q);
  return search.shares(log_normalisers);
}

}  // namespace bnpvi
