#include "dynamics/expected_system.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "foundation/special.h"
#include "observations/linalg.h"
#include "observations/obs_models.h"

namespace bnpvi::dynamics {

EmissionPrior emission_prior(const Fields& f) {
  const Vec unit = f.numbers("column_unit");
  EmissionPrior out;
  out.d = static_cast<Index>(unit.size());
  out.m = static_cast<Index>(f.numbers("unit").size());
  out.identity = f.flag("identity");
  out.by_mode = f.optional_flag("by_mode");
  const bool known = f.has("noise");
  Vec variance = known ? f.numbers("noise") : f.numbers("noise_scale", out.d);
  for (std::size_t i = 0; i < variance.size(); ++i) {
    const double u = unit[i % unit.size()];
    variance[i] = variance[i] / u / u;
  }
  if (known && variance.size() != unit.size()) out.known_by_mode = variance;
  const double modes = static_cast<double>(variance.size()) / static_cast<double>(unit.size());
  Vec& to = known ? out.known : out.scale;
  to.assign(unit.size(), 0.0);
  for (std::size_t i = 0; i < variance.size(); ++i) to[i % unit.size()] += variance[i] / modes;
  if (!known) out.df = f.number("noise_df");
  if (!out.identity) out.precision = f.numbers("loading_precision", out.e() * out.e());
  return out;
}

ExpectedSystem::ExpectedSystem(std::shared_ptr<const ObsModel> dynamics, const EmissionPrior& emission,
                               Vec log_units)
    : dynamics_(std::move(dynamics)),
      emission_(emission),
      log_units_(std::move(log_units)),
      n_dynamics_(dynamics_->n_features()) {
  for (int name = 1; name <= emission_.n_known_modes(); ++name)
    modes_.push_back(std::make_unique<ExpectedSystem>(dynamics_, emission_.of_mode(name), log_units_));
}

void ExpectedSystem::gains(const double* t, double* out) const {
  const EmissionStatistics seen = of_emission(t);
  const double plain = Emission(emission_, seen).value();
  for (std::size_t i = 0; i < modes_.size(); ++i)
    out[i] = Emission(modes_[i]->emission_, seen).value() - plain;
}

void ExpectedSystem::features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const {
  for (Index i = 0; i < n_features(); ++i)
    for (Index j = 0; j < n; ++j) phi[j * ld + i] = data.dense[i * data.n + rows[j]];
}

double ExpectedSystem::log_evidence(const double* t) const {
  const EmissionStatistics seen = of_emission(t);
  double value = dynamics_->log_evidence(of_dynamics(t)) + Emission(emission_, seen).value();
  for (Index j = 0; j < emission_.d; ++j) value -= seen.count[j] * log_units_[j];
  return value;
}

void ExpectedSystem::weights(const double* t, double* w) const {
  w[0] = 0;
  dynamics_->weights(of_dynamics(t), w + 1);
  double* of_seen = w + 1 + n_dynamics_;
  Emission(emission_, of_emission(t)).weights(of_seen);
  for (Index j = 0; j < emission_.d; ++j) of_seen[j] -= log_units_[j];
}

// For the emission: expected parameters as if they were known, at an average row whose (x, 1) has the second
// moment V̂ / (N + 1).
void ExpectedSystem::point_estimate(const double* t, double* mean, double* w) const {
  const Index d = emission_.d, e = emission_.e(), q = emission_.n_moments();
  mean[0] = 1;
  w[0] = 0;
  dynamics_->point_estimate(of_dynamics(t), mean + 1, w + 1);
  const EmissionStatistics seen = of_emission(t);
  const Emission at(emission_, seen);
  double *s = mean + 1 + n_dynamics_, *weight = w + 1 + n_dynamics_;
  for (Index j = 0; j < d; ++j) {
    const double variance = 1 / at.mean_precision()[j];
    s[j] = 1;
    weight[j] = -0.5 * (std::log(variance) + log_2pi) - log_units_[j];
    double *moment = s + d + j * q, *slope = weight + d + j * q;
    const double *c = at.loadings().data() + j * e, *sum = seen.moment.data() + j * q;
    moment[packed(e, e)] = variance;
    slope[packed(e, e)] = -0.5 / variance;
    for (Index a = 0; a < e; ++a) {
      slope[packed(e, a)] = c[a] / variance;
      moment[packed(e, a)] = 0;
      for (Index b = 0; b < e; ++b) {
        const double second = (emission_.precision[a * e + b] + sum[packed(a, b)]) / (seen.count[j] + 1);
        if (b <= a) {
          moment[packed(a, b)] = second;
          slope[packed(a, b)] = (a == b ? -0.5 : -1) * c[a] * c[b] / variance;
        }
        moment[packed(e, a)] += second * c[b];
      }
      moment[packed(e, e)] += c[a] * moment[packed(e, a)];
    }
  }
}

void ExpectedSystem::draw(const double*, Stream&, double*) const {
  throw std::logic_error("rows that are expected have no samplers");
}

Vec ExpectedSystem::dynamics_of(const double* t, Index k) const {
  Vec out;
  for (Index j = 0; j < k; ++j) {
    const double* from = of_dynamics(t + j * n_features());
    out.insert(out.end(), from, from + n_dynamics_);
  }
  return out;
}

NamedArrays ExpectedSystem::posterior(const double* t, Index k) const {
  return dynamics_->posterior(dynamics_of(t, k).data(), k);
}

NamedArrays ExpectedSystem::mean_parameters(const double* t, Index k) const {
  return dynamics_->mean_parameters(dynamics_of(t, k).data(), k);
}

Capabilities ExpectedSystem::capabilities() const {
  Capabilities out;
  out.units = this;
  if (!modes_.empty()) out.names = this;
  return out;
}

void ExpectedSystem::re_express(const ObsModel&, double*) const {
  throw std::logic_error("rows that are expected keep their units");
}

double ExpectedSystem::strain() const { return units_of(*dynamics_).strain(); }

std::unique_ptr<ObsModel> make_system(const Fields& fields) {
  std::unique_ptr<ObsModel> dynamics = make_lds(fields);
  const EmissionPrior emission = emission_prior(fields);
  if (!emission.by_mode) return dynamics;
  Vec log_units = fields.numbers("column_unit");
  for (double& unit : log_units) unit = std::log(unit);
  return std::make_unique<ExpectedSystem>(std::move(dynamics), emission, std::move(log_units));
}

}  // namespace bnpvi::dynamics
