// Observation models whose log predictive density is linear in the features of a row.
#pragma once
#include "kernels/kernels.h"
#include "observations/capabilities.h"

namespace bnpvi {

/// Models whose log predictive density is linear in the features: log p(x | data with statistic T) − log h(x)
/// = ⟨φ(x), w⟩. φ(x): the p features of row x. predictive_weights() computes w (p numbers) from T. An urn (a
/// cluster of a sampler, which rows leave and join) has T, followed by w.
template <class Base>
class LinearPredictive : public Base, public Urn {
 public:
  using Base::Base;

  Capabilities capabilities() const override {
    Capabilities out = Base::capabilities();
    out.urn = this;
    return out;
  }

  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const final {
    const Index p = this->n_features();
    Vec w(static_cast<std::size_t>(p));
    predictive_weights(t, w.data());
    kernels().product_nt(n, 1, p, phi, ld, w.data(), p, out, 1);
  }

  Index urn_size() const final { return 2 * this->n_features(); }
  void fill_urn(double* urn) const final { predictive_weights(urn, urn + this->n_features()); }
  void urn_predictives(const double* urns, Index k, const double* phi, double* out) const final {
    const Index p = this->n_features();
    kernels().product_nt(1, k, p, phi, p, urns + p, 2 * p, out, k);
  }

 protected:
  virtual void predictive_weights(const double* t, double* w) const = 0;
};

}  // namespace bnpvi
