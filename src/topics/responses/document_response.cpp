#include "topics/responses/document_response.h"

#include <algorithm>
#include <cmath>

#include "observations/linalg.h"

namespace bnpvi::topics {

namespace {

// approach() takes a full step if tilts change counts by at most this fraction of the change of the counts at
// which the tilt is taken: a guess.
constexpr double most_answer = 0.5;

}  // namespace

bool DocumentResponse::begin(const DocumentView& view) {
  known_.clear();
  if (!view.response || view.length <= 0) return false;
  const Index equations = model_.prior().equations;
  for (Index e = 0; e < equations; ++e)
    if (!std::isnan(view.response[e])) known_.push_back(e);
  value_ = view.response;
  length_ = view.length;
  return !known_.empty();
}

void DocumentResponse::use(const std::vector<int>& topic) {
  topic_ = topic;
  calls_ = 0;
  const std::size_t a = topic.size(), n = known_.size();
  const Index w = posterior_.size, m = model_.prior().covariates, k = w - m;
  const double* const x = value_ + model_.prior().equations;
  linear_.resize(n * a);
  crossed_.assign(n * a, 0.0);
  second_.resize(n * a * a);
  of_covariates_.assign(n, 0.0);
  square_rest_.assign(n, 0.0);
  for (std::size_t e = 0; e < n; ++e) {
    const ResponsePosterior::Equation& q = posterior_.equation[known_[e]];
    for (std::size_t i = 0; i < a; ++i) {
      const double* const row = q.second.data() + topic[i] * w;
      linear_[e * a + i] = q.linear[topic[i]];
      for (std::size_t j = 0; j < a; ++j) second_[(e * a + i) * a + j] = row[topic[j]];
      for (Index j = 0; j < m; ++j) crossed_[e * a + i] += row[k + j] * x[j];
    }
    for (Index i = 0; i < m; ++i) {
      of_covariates_[e] += q.linear[k + i] * x[i];
      for (Index j = 0; j < m; ++j) square_rest_[e] += x[i] * x[j] * q.second[(k + i) * w + k + j];
    }
  }
}

// E f and the upper bound of E f² of an equation; for gaussian responses E f/σ² and E f²/σ².
DocumentResponse::Moments DocumentResponse::moments(Index e, const Vec& count) const {
  const Index a = static_cast<Index>(topic_.size());
  const double *linear = linear_.data() + e * a, *second = second_.data() + e * a * a,
               *crossed = crossed_.data() + e * a;
  Moments out{of_covariates_[e], square_rest_[e]};
  double quadratic = 0, diagonal = 0;
  for (Index i = 0; i < a; ++i) {
    const double mean = count[i] / length_;
    double product = 0;
    for (Index j = 0; j < a; ++j) product += second[i * a + j] * count[j];
    quadratic += mean * product / length_;
    diagonal += mean * second[i * a + i] / length_;
    out.mean += linear[i] * mean;
    out.square += 2 * crossed[i] * mean;
  }
  out.square += (1 - 1 / length_) * quadratic + diagonal;
  return out;
}

void DocumentResponse::touch(const Vec& count) {
  const Index a = static_cast<Index>(topic_.size()), call = calls_++;
  if (call > 0 && (model_.n_local() == 0 || (call & (call - 1)) != 0)) return;
  g_.assign(static_cast<std::size_t>(a * a), 0.0);
  h_.assign(static_cast<std::size_t>(a), 0.0);
  const double weight = model_.prior().weight, n2 = length_ * length_;
  double local[2];
  for (std::size_t e = 0; e < known_.size(); ++e) {
    const double y = value_[known_[e]];
    if (model_.n_local() > 0) {
      const Moments f = moments(static_cast<Index>(e), count);
      model_.best(y, f.mean, f.square, local);
    }
    const Quadratic q = model_.quadratic(y, local);
    const double *second = second_.data() + static_cast<Index>(e) * a * a,
                 *linear = linear_.data() + static_cast<Index>(e) * a,
                 *crossed = crossed_.data() + static_cast<Index>(e) * a;
    const double scale = weight * q.omega * (1 - 1 / length_) / n2;
    for (Index i = 0; i < a * a; ++i) g_[i] += scale * second[i];
    for (Index i = 0; i < a; ++i)
      h_[i] += weight *
               ((q.b * linear[i] - q.omega * crossed[i]) / length_ - q.omega * second[i * a + i] / (2 * n2));
  }
}

void DocumentResponse::add_slope(const Vec& at, Vec& p) const {
  const std::size_t a = topic_.size();
  for (std::size_t i = 0; i < a; ++i) {
    double slope = h_[i];
    for (std::size_t j = 0; j < a; ++j) slope -= g_[i * a + j] * at[j];
    p[i] += slope;
  }
}

double DocumentResponse::curvature(const Vec& x, const Vec& y) const {
  const std::size_t a = topic_.size();
  double sum = 0;
  for (std::size_t i = 0; i < a; ++i) {
    double product = 0;
    for (std::size_t j = 0; j < a; ++j) product += g_[i * a + j] * (x[j] - y[j]);
    sum += (x[i] - y[i]) * product;
  }
  return sum;
}

bool DocumentResponse::no_worse(const Vec& before, const Vec& now, const Vec& at, bool dense) const {
  double distance = 0;
  for (std::size_t i = 0; i < topic_.size(); ++i) distance += std::abs(before[i] - now[i]);
  const double sure = dense ? distance * distance / length_ : 0;
  return curvature(now, at) <= curvature(before, at) + sure;
}

void DocumentResponse::approach(const Vec& count, Vec& at) {
  const Index a = static_cast<Index>(topic_.size());
  Vec &root = scratch_[0], &share = scratch_[1];  // √s and √(s/N), half way
  Vec &product = scratch_[2], &step = scratch_[3], &k = scratch_[4];
  root.resize(topic_.size());
  share.resize(topic_.size());
  double answer = 0;
  for (Index i = 0; i < a; ++i) {
    const double s = std::max((count[i] + at[i]) / 2, 1e-12);
    root[i] = std::sqrt(s);
    share[i] = std::sqrt(s / length_);
  }
  k.resize(static_cast<std::size_t>(a * a));
  product.assign(topic_.size(), 0.0);
  double whole = 0;
  for (Index i = 0; i < a; ++i) {
    for (Index j = 0; j < a; ++j) {
      k[i * a + j] = root[i] * root[j] * g_[i * a + j];
      product[i] += k[i * a + j] * share[j];
    }
    answer += k[i * a + i];
    whole += share[i] * product[i];
  }
  if (answer - whole <= most_answer) {
    at = count;
    return;
  }
  for (Index i = 0; i < a; ++i) {
    for (Index j = 0; j < a; ++j)
      k[i * a + j] += whole * share[i] * share[j] - share[i] * product[j] - product[i] * share[j];
    k[i * a + i] += 1;
  }
  step.resize(topic_.size());
  for (Index i = 0; i < a; ++i) step[i] = (count[i] - at[i]) / root[i];
  const Vec least(static_cast<std::size_t>(a), 1.0);
  Cholesky(k.data(), a, least.data()).solve(step.data());
  for (Index i = 0; i < a; ++i) at[i] += root[i] * step[i];
}

double DocumentResponse::value(const Vec& count, Vec* local) const {
  const std::size_t each = static_cast<std::size_t>(model_.n_local());
  if (local) local->assign(each * static_cast<std::size_t>(model_.prior().equations), 0.0);
  double sum = 0, own[2];
  for (std::size_t e = 0; e < known_.size(); ++e) {
    const Moments f = moments(static_cast<Index>(e), count);
    sum += model_.best(value_[known_[e]], f.mean, f.square, own);
    if (local) std::copy_n(own, each, local->begin() + known_[e] * static_cast<Index>(each));
  }
  return model_.prior().weight * sum;
}

}  // namespace bnpvi::topics
