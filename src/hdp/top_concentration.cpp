#include "hdp/top_concentration.h"

#include <cmath>

#include "foundation/special.h"

namespace bnpvi {

namespace {
double sticks_of(const WeightMoments& pi) { return static_cast<double>(pi.log.size() - 1); }
}  // namespace

GammaPrior TopConcentration::posterior(const WeightMoments& pi) const {
  return {prior_->shape + sticks_of(pi), prior_->rate - pi.log.back()};
}

double TopConcentration::at(const WeightMoments& pi) const { return prior_ ? posterior(pi).mean() : mean_; }

void TopConcentration::add_posterior(const HdpSticks& sticks, NamedArrays& to) const {
  if (!prior_) return;
  const GammaPrior q = posterior(weight_moments(sticks));
  to.push_back({"gamma", {q.shape, q.rate}, {}});
}

RoundedSum TopConcentration::beyond(double gamma_0, const WeightMoments& pi, WeightMoments* gradient) const {
  RoundedSum sum;
  if (!prior_) return sum;
  const double k = sticks_of(pi), s = pi.log.back();
  const GammaPrior q = posterior(pi);
  sum.add(-log_gamma_difference(prior_->shape, k));
  sum.add(-prior_->shape * std::log1p(-s / prior_->rate));
  sum.add(-k * std::log(q.rate));
  sum.add(-k * std::log(gamma_0));
  sum.add(-gamma_0 * s);
  if (gradient) gradient->log.back() += q.mean() - gamma_0;
  return sum;
}

}  // namespace bnpvi
