// The part of the bound that depends on a topic's effects, and its maximisation.
#include <algorithm>
#include <cmath>

#include "foundation/lbfgs.h"
#include "observations/linalg.h"
#include "topics/model/tilt_normaliser.h"
#include "topics/model/topic_tilt.h"

namespace bnpvi::topics {

namespace {

constexpr double farthest = 40;     // log E exp(x'λ) beyond which numbers would overflow
constexpr int most_steps = 50;      // a guess: few are usual
constexpr double inner_tol = 1e-8;  // of maximise(): what is left is far below rounding of the whole bound

}  // namespace

// Of one topic at given moments of π_k.
class EffectSearch {
 public:
  // Derivatives of the part in x_c'm and x_c'S x_c, and in the moments of π_k.
  struct Slopes {
    Vec by_slope, by_variance;
    double by_pi_mean = 0, by_pi_variance = 0;
  };

  EffectSearch(const TopicPart& part, const TopicCounts& counts, const TopicEffect& from,
               const std::vector<char>& second, double mean, double variance)
      : part_(part),
        tilt_(part.tilt_),
        counts_(counts),
        at_(from),
        second_(second),
        mean_(mean),
        variance_(variance) {}

  const TopicEffect& result() const { return at_; }

  // For each pattern: second derivatives of the part in x_c'm, and in x_c'm and log E π_k; and in log E π_k.
  struct Curvatures {
    Vec by_slope, cross;
    double by_log_mean = 0;
  };

  // TopicPart::value(), with derivatives if `slopes` and `curvatures` are not null. With a = α E e E π_k, log
  // Γ(a) is log Γ(1 + a) − log a and aψ(a) is aψ(1 + a) − 1, for any a.
  static RoundedSum value_of(const TopicPart& part, const TopicCounts& counts, const TopicEffect& effect,
                             const std::vector<char>* second, double mean, double variance, Slopes* slopes,
                             Curvatures* curvatures = nullptr) {
    const double alpha = part.tilt_.alpha, log_alpha = std::log(alpha), log_mean = std::log(mean);
    const std::vector<Index>& used = part.used_;
    const Gammas gammas(used, alpha, effect, mean, slopes, second);
    if (slopes) {
      slopes->by_slope.assign(part.n_.size(), 0.0);
      slopes->by_variance.assign(part.n_.size(), 0.0);
      slopes->by_pi_mean = slopes->by_pi_variance = 0;
    }
    if (curvatures) {
      curvatures->by_slope.assign(part.n_.size(), 0.0);
      curvatures->cross.assign(part.n_.size(), 0.0);
      curvatures->by_log_mean = 0;
    }
    RoundedSum out;
    for (std::size_t i = 0; i < used.size(); ++i) {
      const Index c = used[i];
      const double n = part.n_[c], others = n - counts.users[c], factor = effect.factor(c),
                   square = effect.square(c), a = alpha * factor * mean,
                   log_a = log_alpha + effect.log_factor(c) + log_mean, slope = counts.slope[c] + part.f_[c];
      const auto normaliser_of = [&](bool is_second) {
        return normaliser(gammas, i, alpha, factor, square, mean, variance, is_second);
      };
      bool is_second = !second || (*second)[c];
      Normaliser g = normaliser_of(is_second);
      if (!second) {
        const Normaliser first = normaliser_of(false);
        if (!(g.value < first.value)) {
          is_second = false;
          g = first;
        }
      }
      out.add(a * slope);
      out.add(others * (gammas.log_gamma(i, true) - log_a));
      out.add(n * (log_alpha + effect.slope(c)));
      out.add(-n * g.value);
      if (!slopes) continue;
      const double by_a = a * slope + others * (a * gammas.psi(i, true) - 1),  // times a
          by_factor = by_a - n * g.by_log_factor;
      slopes->by_slope[c] = by_factor + n - 2 * n * g.by_log_square;
      slopes->by_variance[c] = by_factor / 2 - 2 * n * g.by_log_square;
      slopes->by_pi_mean += by_a / mean - n * g.by_mean;
      slopes->by_pi_variance -= n * g.by_variance;
      if (!curvatures) continue;
      const double psi = gammas.psi(i, is_second);
      const Curvature of_g = is_second ? curvature_of_curve(alpha, factor, square, mean, variance, psi)
                                       : curvature_of_chord(alpha, factor, square, mean, g, psi);
      const double of_a = a * slope + others * a * (gammas.psi(i, true) + near_trigamma(a));
      curvatures->by_slope[c] = of_a - n * of_g.by_slope;
      curvatures->cross[c] = of_a - n * of_g.cross;
      curvatures->by_log_mean += of_a - n * of_g.by_log_mean;
    }
    return out;
  }

  // TopicPart::choose().
  static std::vector<char> choose(const TopicPart& part, const TopicEffect& effect, double mean,
                                  double variance) {
    const double alpha = part.tilt_.alpha;
    const std::vector<Index>& used = part.used_;
    const Gammas gammas(used, alpha, effect, mean, false);
    std::vector<char> out(part.n_.size(), 0);
    for (std::size_t i = 0; i < used.size(); ++i) {
      const auto value = [&](bool second) {
        return normaliser(gammas, i, alpha, effect.factor(used[i]), effect.square(used[i]), mean, variance,
                          second)
            .value;
      };
      out[used[i]] = value(true) < value(false);
    }
    return out;
  }

  RoundedSum value(Slopes* slopes = nullptr) const {
    RoundedSum out = value_of(part_, counts_, at_, &second_, mean_, variance_, slopes);
    out.add(-at_.divergence());
    return out;
  }

 private:
  static Normaliser normaliser(const Gammas& gammas, std::size_t i, double alpha, double factor,
                               double square, double mean, double variance, bool second) {
    const double log_gamma = gammas.log_gamma(i, second), psi = gammas.psi(i, second);
    return second ? curve(alpha, factor, square, mean, variance, log_gamma, psi)
                  : chord(alpha, factor, square, mean, log_gamma, psi);
  }

  bool within() const { return is_within(at_, tilt_.patterns); }

 public:
  // TopicPart::is_within().
  static bool is_within(const TopicEffect& at, Index patterns) {
    for (Index c = 0; c < patterns; ++c)
      if (!(2 * at.log_factor(c) + at.variance(c) < farthest)) return false;
    return true;
  }

  void widen() {
    Slopes slopes;
    const double before = value(&slopes).value();
    const Index p = tilt_.columns;
    Vec goal(static_cast<std::size_t>(p * p), 0.0);
    for (Index i = 0; i < p; ++i) goal[i * (p + 1)] = 1 / tilt_.variance;
    for (Index c = 0; c < tilt_.patterns; ++c) {
      const double w = std::max(0.0, -2 * slopes.by_variance[c]);
      for (Index i = 0; i < p; ++i)
        for (Index l = 0; l < p; ++l) goal[i * p + l] += w * tilt_.x[c * p + i] * tilt_.x[c * p + l];
    }
    const TopicEffect old = at_;
    for (double step = 1; step > 1e-3; step /= 2) {
      for (std::size_t i = 0; i < goal.size(); ++i)
        at_.precision_[i] = (1 - step) * old.precision_[i] + step * goal[i];
      at_.take_precision();
      at_.take_mean();
      if (within() && value().value() >= before) return;
    }
    at_ = old;
  }

  // TopicPart::model().
  static TopicModel model(const TopicPart& part, const TopicCounts& counts, const TopicEffect& at,
                          double mean, double variance) {
    const TopicTilt& tilt = part.tilt_;
    const Index p = at.columns();
    Slopes slopes;
    Curvatures curvatures;
    TopicModel out;
    out.value = value_of(part, counts, at, nullptr, mean, variance, &slopes, &curvatures);
    out.value.add(-at.divergence());
    out.log_mean = std::log(mean);
    out.variance = variance;
    out.by_variance = slopes.by_pi_variance;
    out.precision.assign(static_cast<std::size_t>(p * p), 0.0);
    Vec curve = out.precision, cross(static_cast<std::size_t>(p), 0.0);
    out.step = cross;
    for (Index i = 0; i < p; ++i) {
      out.precision[i * (p + 1)] = curve[i * (p + 1)] = 1 / tilt.variance;
      out.step[i] = -at.mean_[i] / tilt.variance;
    }
    for (Index c : part.used_) {
      const double* x = tilt.x.data() + c * p;
      const double w = std::max(0.0, -2 * slopes.by_variance[c]), v = std::max(0.0, -curvatures.by_slope[c]);
      for (Index i = 0; i < p; ++i) {
        out.step[i] += slopes.by_slope[c] * x[i];
        cross[i] += curvatures.cross[c] * x[i];
        for (Index l = 0; l < p; ++l) {
          out.precision[i * p + l] += w * x[i] * x[l];
          curve[i * p + l] += v * x[i] * x[l];
        }
      }
    }
    out.slope = slopes.by_pi_mean * mean;
    out.curvature = -curvatures.by_log_mean;
    out.follow = cross;
    if (p > 0) {
      const Cholesky chol(curve.data(), p);
      chol.solve(out.step.data());
      chol.solve(out.follow.data());
    }
    for (Index i = 0; i < p; ++i) {
      out.slope += cross[i] * out.step[i];
      out.curvature -= cross[i] * out.follow[i];
    }
    out.curvature = std::max(0.0, out.curvature);
    return out;
  }

  // TopicPart::moved().
  static TopicEffect moved(const TopicEffect& from, const TopicModel& model, double log_mean) {
    TopicEffect out = from;
    for (std::size_t i = 0; i < out.mean_.size(); ++i)
      out.mean_[i] += model.step[i] + model.follow[i] * (log_mean - model.log_mean);
    out.precision_ = model.precision;
    out.take_precision();
    out.take_mean();
    return out;
  }

  // L-BFGS on the mean, in standard deviations of q.
  void climb() {
    const Index p = tilt_.columns;
    const Vec from = at_.mean_;
    Vec at(static_cast<std::size_t>(p), 0.0), by_mean(at.size());
    Slopes slopes;
    const auto take = [&](const Vec& v) {
      for (Index i = 0; i < p; ++i) {
        double step = 0;
        for (Index l = i; l < p; ++l) step += at_.root_[l * p + i] * v[l];
        at_.mean_[i] = from[i] + step;
      }
      at_.take_mean();
    };
    maximise(
        [&](const Vec& v, Vec& gradient) {
          take(v);
          if (!within()) {
            RoundedSum outside;
            outside.add(-INFINITY);
            return outside;
          }
          const RoundedSum out = value(&slopes);
          for (Index i = 0; i < p; ++i) by_mean[i] = -at_.mean_[i] / tilt_.variance;
          for (Index c = 0; c < tilt_.patterns; ++c)
            for (Index i = 0; i < p; ++i) by_mean[i] += slopes.by_slope[c] * tilt_.x[c * p + i];
          for (Index l = 0; l < p; ++l) {
            gradient[l] = 0;
            for (Index i = 0; i <= l; ++i) gradient[l] += at_.root_[l * p + i] * by_mean[i];
          }
          return out;
        },
        at, inner_tol, most_steps);
    take(at);
  }

 private:
  const TopicPart& part_;
  const TopicTilt& tilt_;
  const TopicCounts& counts_;
  TopicEffect at_;
  const std::vector<char>& second_;
  const double mean_, variance_;
};

TopicPart::TopicPart(const TopicTilt& tilt, const Vec& n, const Vec& f) : tilt_(tilt), n_(n), f_(f) {
  for (std::size_t c = 0; c < n.size(); ++c)
    if (n[c] != 0) used_.push_back(static_cast<Index>(c));
}

std::vector<char> TopicPart::choose(const TopicEffect& effect, double mean, double variance) const {
  return EffectSearch::choose(*this, effect, mean, variance);
}

TopicModel TopicPart::model(const TopicCounts& counts, const TopicEffect& effect, double mean,
                            double variance) const {
  return EffectSearch::model(*this, counts, effect, mean, variance);
}

TopicEffect TopicPart::moved(const TopicEffect& from, const TopicModel& model, double log_mean) const {
  return EffectSearch::moved(from, model, log_mean);
}

bool TopicPart::is_within(const TopicEffect& effect) const {
  return EffectSearch::is_within(effect, tilt_.patterns);
}

RoundedSum TopicPart::value(const TopicCounts& counts, const TopicEffect& effect,
                            const std::vector<char>* second, double mean, double variance, double* by_mean,
                            double* by_variance) const {
  EffectSearch::Slopes slopes;
  const RoundedSum out =
      EffectSearch::value_of(*this, counts, effect, second, mean, variance, by_mean ? &slopes : nullptr);
  if (!by_mean) return out;
  *by_mean += slopes.by_pi_mean;
  *by_variance += slopes.by_pi_variance;
  return out;
}

TopicEffect TopicPart::with_best_mean(const TopicCounts& counts, const TopicEffect& from,
                                      const std::vector<char>& second, double mean, double variance) const {
  EffectSearch search(*this, counts, from, second, mean, variance);
  if (tilt_.columns > 0) search.climb();
  return search.result();
}

TopicEffect TopicPart::widened(const TopicCounts& counts, const TopicEffect& from,
                               const std::vector<char>& second, double mean, double variance) const {
  EffectSearch search(*this, counts, from, second, mean, variance);
  if (tilt_.columns > 0) search.widen();
  return search.result();
}

}  // namespace bnpvi::topics
