#include "observations/random_effects.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "foundation/special.h"
#include "kernels/kernels.h"

namespace bnpvi {

namespace {

// Positions of the second moments of (x, y − z'a).
std::vector<Index> places_of_moments(const EffectsPlaces& at) {
  std::vector<Index> out;
  for (Index j = at.moments; j < at.entropy; ++j) out.push_back(j);
  return out;
}

}  // namespace

RandomEffects::RandomEffects(Prior prior, std::shared_ptr<const ObsModel> of_rows, Index offset)
    : prior_(std::move(prior)),
      first_(prior_.intercept ? 1 : 0),
      shape_(static_cast<Index>(prior_.unit.size()) - 1 + first_, prior_.random),
      of_rows_(std::move(of_rows)),
      rows_(of_rows_),
      offset_(offset),
      effects_(prior_.effects, prior_.independent),
      noise_(prior_.rows, shape_.rows, places_of_moments(shape_)) {
  if (shared()) log_hyperprior_ = effects_.log_hyperprior() + noise_.log_hyperprior();
}

Capabilities RandomEffects::capabilities() const {
  Capabilities out;
  out.cells = this;
  out.units = this;
  if (shared()) out.prior = this;
  out.individuals = &rows_;
  return out;
}

void RandomEffects::features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const {
  const auto all = pattern({true});
  const Index p = all->n_features();
  Vec sums(static_cast<std::size_t>(n * p)), w(static_cast<std::size_t>(n_features()), 0.0);
  const Vec none = w;
  weights(none.data(), w.data());
  all->features(data, rows, n, sums.data(), p);
  const double one = 1, *of_prior = w.data();
  for (Index i = 0; i < n; ++i) {
    double* f = phi + i * ld;
    std::fill_n(f, n_features(), 0.0);
    all->add(1, sums.data() + i * p, 1, &one, &of_prior, &f);
  }
}

std::vector<IncompleteRows> RandomEffects::incomplete_rows(const Dataset&, const Index*, Index n) const {
  if (n == 0) return {};
  IncompleteRows all{{true}, {}};
  for (Index i = 0; i < n; ++i) all.at.push_back(i);
  return {all};
}

std::unique_ptr<const MissingPattern> RandomEffects::pattern(const MissingCells&) const {
  return make_effects_pattern(shape_, offset_, *this);
}

std::shared_ptr<const ObsModel> RandomEffects::learned(const double* t, Index k, PriorSteps, Pool*) const {
  Prior next = prior_;
  try {
    next.effects.known = effects_.best_known(t, k, n_features());
    next.rows.known = noise_.best_known(t, k, n_features());
    return std::make_shared<RandomEffects>(std::move(next), of_rows_, offset_);
  } catch (const std::domain_error&) {
    return nullptr;
  }
}

NamedArrays RandomEffects::learned_fields() const {
  if (!shared()) return {};
  const Index q = shape_.q;
  Vec around = prior_.effects.known;
  for (Index i = 0; i < q; ++i)
    for (Index j = 0; j < q; ++j)
      around[i * q + j] *= unit_y() * unit_y() / unit(shape_.random[i]) / unit(shape_.random[j]);
  return {{"shared_cov", around, {q, q}}, {"shared_noise", {prior_.rows.known[0] * unit_y() * unit_y()}, {}}};
}

// Converts a, x and y to other units; the centre must be the same.
void RandomEffects::re_express(const ObsModel& from, double* t) const {
  const RandomEffects& before = same_kind<RandomEffects>(from);
  for (std::size_t j = 0; j < prior_.centre.size(); ++j)
    if (prior_.centre[j] != before.prior_.centre[j])
      throw std::invalid_argument("internal error: random effects around another centre");
  const double y = before.unit_y() / unit_y();
  Vec a{1}, v;
  for (Index j : shape_.random) a.push_back(y * unit(j) / before.unit(j));
  for (Index j : shape_.fixed) v.push_back(before.unit(j) / unit(j));
  v.push_back(y);
  double log_change = 0;
  for (double x : a) log_change += std::log(x);
  t[shape_.entropy] += t[0] * log_change;
  const auto rescale = [t](const Vec& by, Index first) {
    for (Index i = 0; i < static_cast<Index>(by.size()); ++i)
      for (Index j = 0; j <= i; ++j) t[first + packed(i, j)] *= by[i] * by[j];
  };
  rescale(a, shape_.effects);
  rescale(v, shape_.moments);
}

double RandomEffects::strain() const { return std::max(effects_.strain(), noise_.strain()); }

double RandomEffects::log_evidence(const double* t) const {
  return effects_.log_evidence(t) + noise_.log_evidence(t) + t[shape_.entropy];
}

double RandomEffects::evidence_and_weights(const double* t, double* w) const {
  std::fill_n(w, n_features(), 0.0);
  w[shape_.entropy] = 1;
  return effects_.add_weights(t, w) + noise_.add_weights(t, w) + t[shape_.entropy];
}

void RandomEffects::point_estimate(const double* t, double* mean, double* w) const {
  std::fill_n(mean, n_features(), 0.0);
  std::fill_n(w, n_features(), 0.0);
  effects_.point_estimate(t, mean, w);
  noise_.point_estimate(t, t[0] > 0 ? t[shape_.rows] / t[0] : 1, mean, w);
  w[shape_.entropy] = 1;
}

void RandomEffects::draw(const double* t, Stream& stream, double* w) const {
  std::fill_n(w, n_features(), 0.0);
  effects_.draw(t, stream, w);
  noise_.draw(t, stream, w);
  w[shape_.entropy] = 1;
}

// Puts the means of a and b in the order of the regressors.
Vec RandomEffects::fixed(const EffectsPosterior& a, const EffectsPosterior& b) const {
  Vec out(static_cast<std::size_t>(regressors()));
  for (Index i = 0; i < shape_.q; ++i) out[shape_.random[i]] = a.coef[i];
  for (Index j = 0; j < shape_.p; ++j) out[shape_.fixed[j]] = b.coef[j];
  return out;
}

Vec RandomEffects::to_users(const Vec& coef) const {
  Vec out(coef.size());
  double intercept = prior_.centre[0];
  for (Index j = first_; j < regressors(); ++j) {
    out[j] = coef[j] * (unit_y() / unit(j));
    intercept -= out[j] * centre(j);
  }
  if (first_ == 1) out[0] = intercept + unit_y() * coef[0];
  return out;
}

// H A Hᵀ, where the user's coefficients are H times the engine's.
Vec RandomEffects::area_to_users(const Vec& area, bool random) const {
  std::vector<Index> which = shape_.random;
  if (!random) {
    which.clear();
    for (Index j = 0; j < regressors(); ++j) which.push_back(j);
  }
  const std::size_t n = which.size();
  Vec h(n * n, 0.0), left(n * n, 0.0), out(n * n, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    h[j * n + j] = unit_y() / unit(which[j]);
    if (first_ == 1 && which[0] == 0 && j > 0) h[j] = -centre(which[j]) * h[j * n + j];
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t l = 0; l < n; ++l) left[i * n + j] += h[i * n + l] * area[l * n + j];
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t l = 0; l < n; ++l) out[i * n + j] += left[i * n + l] * h[j * n + l];
  return out;
}

}  // namespace bnpvi
