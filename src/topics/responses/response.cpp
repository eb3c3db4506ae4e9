#include "topics/responses/response.h"

#include <algorithm>
#include <cmath>

#include "foundation/special.h"
#include "observations/linalg.h"
#include "topics/model/topic_sum.h"

namespace bnpvi::topics {

namespace {

constexpr double first_local = 1;        // for documents not visited yet: any value gives a bound
constexpr double least_lambda = 1e-100;  // for a hinge whose response is met exactly, where λ would be 0

enum Slot { square, product, with_covariate };
enum Scalar { known, constant, further };

double log_sigmoid(double x) { return -log_1p_exp(-x); }

// tanh(ξ/2) / (2ξ) [Jaakkola & Jordan 2000].
double logistic_omega(double xi) { return xi < 1e-4 ? 0.25 - xi * xi / 48 : std::tanh(xi / 2) / (2 * xi); }

// −cost max(0, ζ) ≥ −cost (ζ + λ)²/4λ, ζ = α + βf, touches at λ = |ζ| [Polson & Scott 2011].
Quadratic hinge(double cost, double alpha, double beta, double lambda) {
  const double l = std::max(lambda, least_lambda), c = cost / (2 * l);
  return {c * beta * beta, -c * beta * (alpha + l), -c / 2 * (alpha + l) * (alpha + l)};
}

// Its best λ is (E ζ²)^½, where the bound is −cost (λ + E ζ)/2.
double best_hinge(double cost, double alpha, double beta, double mean, double square, double& lambda) {
  const double zeta = alpha + beta * mean;
  lambda = std::sqrt(std::max(alpha * alpha + 2 * alpha * beta * mean + beta * beta * square, 0.0));
  return -cost * (lambda + zeta) / 2;
}

}  // namespace

Index ResponseModel::n_local() const {
  switch (prior_.family) {
    case ResponseFamily::gaussian:
      return 0;
    case ResponseFamily::tube:
      return 2;
    default:
      return 1;
  }
}

Quadratic ResponseModel::quadratic(double y, const double* local) const {
  const double first = local ? local[0] : first_local;
  switch (prior_.family) {
    case ResponseFamily::gaussian:
      return {1, y, y * y};
    case ResponseFamily::logistic: {
      const double omega = logistic_omega(first);
      return {omega, y - 0.5, log_sigmoid(first) - first / 2 + omega * first * first / 2};
    }
    case ResponseFamily::hinge:
      return hinge(prior_.cost, 1, -y, first);
    default: {
      const Quadratic above = hinge(prior_.cost, y - prior_.epsilon, -1, first),
                      below = hinge(prior_.cost, -y - prior_.epsilon, 1, local ? local[1] : first_local);
      return {above.omega + below.omega, above.b + below.b, above.constant + below.constant};
    }
  }
}

double ResponseModel::best(double y, double mean, double square, double* local) const {
  switch (prior_.family) {
    case ResponseFamily::gaussian:
      return y * mean - square / 2;
    case ResponseFamily::logistic:
      local[0] = std::sqrt(std::max(square, 0.0));
      return (y - 0.5) * mean + log_sigmoid(local[0]) - local[0] / 2;
    case ResponseFamily::hinge:
      return best_hinge(prior_.cost, 1, -y, mean, square, local[0]);
    default:
      return best_hinge(prior_.cost, y - prior_.epsilon, -1, mean, square, local[0]) +
             best_hinge(prior_.cost, -y - prior_.epsilon, 1, mean, square, local[1]);
  }
}

void ResponseModel::add(const double* value, const double* local, double length, double times, Shares share,
                        Summary& to) const {
  if (!value || length <= 0) return;
  const Index m = prior_.covariates, k = to.k, pairs = to.shape.pairs;
  const double* x = value + prior_.equations;
  for (Index e = 0; e < prior_.equations; ++e) {
    if (std::isnan(value[e])) continue;
    const Quadratic q = quadratic(value[e], local ? local + e * n_local() : nullptr);
    const double omega = times * q.omega, b = times * q.b;
    double* const pair = to.pair.data() + e * (2 + m);
    for (const Share& s : share) {
      const double mean = s.count / length;
      double* const row = pair + s.cluster * k * pairs;
      for (const Share& t : share)
        row[t.cluster * pairs + square] += omega * (1 - 1 / length) * mean * (t.count / length);
      double* const own = row + s.cluster * pairs;
      own[square] += omega * mean / length;
      own[product] += b * mean;
      for (Index i = 0; i < m; ++i) own[with_covariate + i] += omega * x[i] * mean;
    }
    double* const scalar = to.scalar.data() + TopicScalar::size + e * scalars_each();
    scalar[known] += times;
    scalar[constant] += times * q.constant;
    for (Index i = 0; i < m; ++i) {
      scalar[further + i] += b * x[i];
      for (Index j = 0; j <= i; ++j) scalar[further + m + packed(i, j)] += omega * x[i] * x[j];
    }
  }
}

double ResponseModel::n_known(const Summary& s) const {
  double n = 0;
  for (Index e = 0; e < prior_.equations; ++e)
    n += s.scalar[static_cast<std::size_t>(TopicScalar::size + e * scalars_each() + known)];
  return n;
}

double ResponseModel::residual(const double* value, double length, Shares share,
                               const ResponsePosterior& q) const {
  double worst = NAN, local[2];
  if (!value || length <= 0) return worst;
  const Index m = prior_.covariates, k = q.size - m;
  for (Index e = 0; e < prior_.equations; ++e) {
    if (std::isnan(value[e])) continue;
    double f = 0;
    for (const Share& s : share) f += q.equation[e].mean[s.cluster] * s.count / length;
    for (Index i = 0; i < m; ++i) f += q.equation[e].mean[k + i] * value[prior_.equations + i];
    best(value[e], f, f * f, local);
    const Quadratic at = quadratic(value[e], local);
    const double residual = at.b - at.omega * f;
    if (!(std::abs(residual) <= std::abs(worst))) worst = residual;
  }
  return worst;
}

void ResponseModel::divide(Summary& s, Index topic, Index first_born, Index n_born) const {
  const Index k = s.k, pairs = s.shape.pairs;
  const double parts = static_cast<double>(n_born + 1);
  const auto at = [&](Index i, Index j) { return s.pair.data() + (i * k + j) * pairs; };
  std::vector<Index> all{topic};
  for (Index j = 0; j < n_born; ++j) all.push_back(first_born + j);
  for (Index i = 0; i < pairs; ++i) {
    const bool on_diagonal = i % (2 + prior_.covariates) != square;
    const double own = at(topic, topic)[i] / (on_diagonal ? parts : parts * parts);
    for (Index l = 0; l < k; ++l) {
      if (std::find(all.begin(), all.end(), l) != all.end()) continue;
      const double with = at(topic, l)[i] / parts;
      for (Index j : all) at(j, l)[i] = at(l, j)[i] = with;
    }
    for (Index j : all)
      for (Index l : all)
        if (!on_diagonal || j == l) at(j, l)[i] = own;
  }
}

// P̂ = precision I + Σ ω E (z̄, x)(z̄, x)' and b̂ of one equation.
struct ResponseModel::Solved {
  Index size;
  Vec b, mean;  // b̂ and P̂⁻¹ b̂
  Cholesky factor;
};

ResponseModel::Solved ResponseModel::solve(const Summary& s, Index e) const {
  const Index m = prior_.covariates, k = s.k, w = k + m, pairs = s.shape.pairs;
  const double* const scalar = s.scalar.data() + TopicScalar::size + e * scalars_each();
  Vec p(static_cast<std::size_t>(w * w), 0.0), b(static_cast<std::size_t>(w));
  for (Index i = 0; i < k; ++i) {
    const double* const row = s.pair.data() + i * k * pairs + e * (2 + m);
    for (Index j = 0; j <= i; ++j) p[i * w + j] = row[j * pairs + square];
    b[i] = row[i * pairs + product];
    for (Index j = 0; j < m; ++j) p[(k + j) * w + i] = row[i * pairs + with_covariate + j];
  }
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j <= i; ++j) p[(k + i) * w + k + j] = scalar[further + m + packed(i, j)];
    b[k + i] = scalar[further + i];
  }
  for (Index i = 0; i < w; ++i) p[i * w + i] += prior_.precision;
  const Vec least(static_cast<std::size_t>(w), prior_.precision);
  Solved out{w, b, b, Cholesky(p.data(), w, least.data())};
  out.factor.solve(out.mean.data());
  return out;
}

namespace {

double inner(const Vec& a, const Vec& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

ResponsePosterior ResponseModel::posterior(const Summary& s) const {
  ResponsePosterior out;
  out.size = s.k + prior_.covariates;
  const Index w = out.size;
  for (Index e = 0; e < prior_.equations; ++e) {
    const Solved solved = solve(s, e);
    const Vec inverse = solved.factor.inverse_factor();
    ResponsePosterior::Equation q{solved.mean, solved.mean, Vec(static_cast<std::size_t>(w * w)), {}};
    for (Index i = 0; i < w; ++i)
      for (Index j = 0; j <= i; ++j) {
        double sum = 0;
        for (Index l = i; l < w; ++l) sum += inverse[l * w + i] * inverse[l * w + j];
        q.covariance[i * w + j] = q.covariance[j * w + i] = sum;
      }
    if (prior_.family == ResponseFamily::gaussian) {
      const double* const scalar = s.scalar.data() + TopicScalar::size + e * scalars_each();
      out.df = prior_.df + scalar[known];
      out.scale = prior_.scale + std::max(scalar[constant] - inner(solved.b, solved.mean), 0.0);
      const bool learned = prior_.variance == 0;
      out.precision = learned ? out.df / out.scale : 1 / prior_.variance;
      out.log_precision =
          learned ? digamma(out.df / 2) - std::log(out.scale / 2) : -std::log(prior_.variance);
      for (double& x : q.linear) x *= out.precision;
    }
    q.second = q.covariance;
    for (Index i = 0; i < w; ++i)
      for (Index j = 0; j < w; ++j) q.second[i * w + j] += out.precision * q.mean[i] * q.mean[j];
    out.equation.push_back(std::move(q));
  }
  return out;
}

double ResponseModel::evidence(const Summary& s) const {
  double sum = 0;
  for (Index e = 0; e < prior_.equations; ++e) {
    const double* const scalar = s.scalar.data() + TopicScalar::size + e * scalars_each();
    if (scalar[known] == 0) continue;
    const Solved solved = solve(s, e);
    const double explained = inner(solved.b, solved.mean);
    sum += (static_cast<double>(solved.size) * std::log(prior_.precision) -
            solved.factor.log_det(0, solved.size)) /
           2;
    if (prior_.family != ResponseFamily::gaussian) {
      sum += explained / 2 + scalar[constant];
      continue;
    }
    const double left = std::max(scalar[constant] - explained, 0.0);
    if (prior_.variance > 0) {
      sum -= (scalar[known] * (log_2pi + std::log(prior_.variance)) + left / prior_.variance) / 2;
      continue;
    }
    const double df = prior_.df + scalar[known], scale = prior_.scale + left;
    sum += -scalar[known] / 2 * log_2pi - log_gamma_difference(prior_.df / 2, scalar[known] / 2) +
           prior_.df / 2 * std::log(prior_.scale / 2) - df / 2 * std::log(scale / 2);
  }
  return prior_.weight * sum;
}

// For q(η) that is optimal for other statistics the term is the tangent there of the evidence, which is
// convex in the statistics.
double ResponseModel::value(const Summary& total, const Summary& effective) const {
  const double at = evidence(effective);
  if (total.pair == effective.pair && total.scalar == effective.scalar) return at;
  const ResponsePosterior q = posterior(effective);
  const Index m = prior_.covariates, k = total.k, w = q.size, pairs = total.shape.pairs;
  const bool gaussian = prior_.family == ResponseFamily::gaussian;
  double sum = 0;
  for (Index e = 0; e < prior_.equations; ++e) {
    const Vec &linear = q.equation[e].linear, &second = q.equation[e].second;
    const Index from = TopicScalar::size + e * scalars_each();
    const auto more = [&](Index i) { return total.scalar[from + i] - effective.scalar[from + i]; };
    const auto more_of = [&](Index i, Index j, Index slot) {
      const Index place = (i * k + j) * pairs + e * (2 + m) + slot;
      return total.pair[place] - effective.pair[place];
    };
    for (Index i = 0; i < k; ++i) {
      for (Index j = 0; j < k; ++j) sum -= more_of(i, j, square) * second[i * w + j] / 2;
      sum += more_of(i, i, product) * linear[i];
      for (Index j = 0; j < m; ++j) sum -= more_of(i, i, with_covariate + j) * second[i * w + k + j];
    }
    for (Index i = 0; i < m; ++i) {
      sum += more(further + i) * linear[k + i];
      for (Index j = 0; j <= i; ++j)
        sum -= more(further + m + packed(i, j)) * second[(k + i) * w + k + j] / (i == j ? 2 : 1);
    }
    if (gaussian)
      sum += (more(known) * (q.log_precision - log_2pi) - more(constant) * q.precision) / 2;
    else
      sum += more(constant);
  }
  return at + prior_.weight * sum;
}

}  // namespace bnpvi::topics
