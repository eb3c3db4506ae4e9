#include "observations/individual_effects.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace bnpvi {

IndividualEffects::IndividualEffects(EffectsPrior prior, bool independent) : prior_(std::move(prior)) {
  constexpr Index count = EffectsPlaces::effects;
  const Index q = prior_.d;
  if (!independent) {
    std::vector<Index> all(static_cast<std::size_t>((q + 1) * (q + 2) / 2));
    std::iota(all.begin(), all.end(), count);
    blocks_.emplace_back(prior_, count, std::move(all));
    return;
  }
  for (Index i = 0; i < q; ++i) {
    EffectsPrior own = prior_;
    own.d = 1;
    own.coef = {prior_.coef[i]};
    own.scale = {prior_.scale[i * q + i]};
    if (!own.known.empty()) own.known = {prior_.known[i * q + i]};
    blocks_.emplace_back(std::move(own), count,
                         std::vector<Index>{count, count + packed(i + 1, 0), count + packed(i + 1, i + 1)});
  }
}

Vec IndividualEffects::diagonal(const std::vector<double>& values) const {
  const std::size_t q = values.size();
  Vec out(q * q, 0.0);
  for (std::size_t i = 0; i < q; ++i) out[i * q + i] = values[i];
  return out;
}

double IndividualEffects::log_evidence(const double* t) const {
  double sum = 0;
  for (const EffectsBlock& block : blocks_) sum += block.log_evidence(t);
  return sum;
}

double IndividualEffects::add_weights(const double* t, double* w) const {
  double sum = 0;
  for (const EffectsBlock& block : blocks_) sum += block.add_weights(t, w);
  return sum;
}

EffectsPosterior IndividualEffects::posterior(const double* t) const {
  EffectsPosterior out = blocks_[0].posterior(t);
  if (blocks_.size() == 1) return out;
  std::vector<double> covariance, scale;
  out.coef.clear();
  for (const EffectsBlock& block : blocks_) {
    const EffectsPosterior own = block.posterior(t);
    out.coef.push_back(own.coef[0]);
    covariance.push_back(own.covariance[0]);
    scale.push_back(own.scale[0]);
  }
  out.covariance = diagonal(covariance);
  out.scale = diagonal(scale);
  return out;
}

void IndividualEffects::point_estimate(const double* t, double* mean, double* w) const {
  for (const EffectsBlock& block : blocks_) block.point_estimate(t, 1, mean, w);
  for (Index i = 1; i < static_cast<Index>(blocks_.size()); ++i)
    for (Index j = 0; j < i; ++j)
      mean[packed(i + 1, j + 1)] = mean[packed(i + 1, 0)] * mean[packed(j + 1, 0)];
}

void IndividualEffects::draw(const double* t, Stream& stream, double* w) const {
  for (const EffectsBlock& block : blocks_) block.draw(t, stream, w);
}

Vec IndividualEffects::best_known(const double* t, Index k, Index p) const {
  if (blocks_.size() == 1) return blocks_[0].best_known(t, k, p);
  std::vector<double> values;
  for (const EffectsBlock& block : blocks_) values.push_back(block.best_known(t, k, p)[0]);
  return diagonal(values);
}

double IndividualEffects::log_hyperprior() const {
  double sum = 0;
  for (const EffectsBlock& block : blocks_) sum += block.log_hyperprior();
  return sum;
}

double IndividualEffects::strain() const {
  double most = 1;
  for (const EffectsBlock& block : blocks_) most = std::max(most, block.strain());
  return most;
}

}  // namespace bnpvi
