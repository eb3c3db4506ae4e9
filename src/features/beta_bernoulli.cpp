#include <cmath>

#include "features/feature_prior.h"
#include "foundation/special.h"
#include "hdp/concentration.h"

namespace bnpvi::features {

namespace {

constexpr double least_alpha = 1e-8;  // the beginning of parameter_ranges in R/check.R

class BetaBernoulli final : public FeaturePrior {
 public:
  BetaBernoulli(Index k, const Concentration& alpha) : k_(k), alpha_(alpha) {}

  FeatureWeights fit(const Vec& counts, double n, const FeatureWeights& warm) const override {
    Concentration alpha = alpha_;
    if (alpha.prior) {
      if (!warm.alpha.empty()) alpha.value = warm.alpha[0];
      alpha.value =
          better_value(alpha, [&](double x) { return value(counts, n, x) + alpha.prior->log_density(x); });
    }
    FeatureWeights out;
    out.value = value(counts, n, alpha.value) + log_density(alpha);
    out.alpha = {alpha.value};
    const double a = alpha.value / static_cast<double>(k_);
    for (double count : counts) {
      out.logit.push_back(digamma(a + count) - digamma(1 + n - count));
      out.prob.push_back((a + count) / (a + 1 + n));
    }
    return out;
  }

  double at_least(const Vec& counts, double n, const FeatureWeights& near) const override {
    Concentration alpha = alpha_;
    alpha.value = near.alpha.at(0);
    return value(counts, n, alpha.value) + log_density(alpha);
  }

  Index most() const override { return k_; }
  bool ordered() const override { return false; }

 private:
  double value(const Vec& counts, double n, double alpha) const {
    const double a = alpha / static_cast<double>(k_);
    const auto term = [&](double count) { return log_beta(a + count, 1 + n - count) - log_beta(a, 1); };
    double sum = static_cast<double>(k_ - static_cast<Index>(counts.size())) * term(0);
    for (double count : counts) sum += term(count);
    return sum;
  }

  Index k_;
  Concentration alpha_;
};

}  // namespace

std::unique_ptr<FeaturePrior> make_beta_bernoulli(const Fields& fields) {
  return std::make_unique<BetaBernoulli>(fields.integer("k"),
                                         make_concentration(fields.numbers("alpha"), least_alpha));
}

std::unique_ptr<FeaturePrior> make_feature_prior(const Fields& fields) {
  const std::string family = fields.text("family");
  if (family == "ibp") return make_indian_buffet(fields);
  if (family == "beta_bernoulli") return make_beta_bernoulli(fields);
  throw std::invalid_argument("internal error: no such prior of features: " + family);
}

}  // namespace bnpvi::features
