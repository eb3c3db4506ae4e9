#include "observations/obs_model.h"

#include "observations/capabilities.h"

namespace bnpvi {

Capabilities ObsModel::capabilities() const { return {}; }

double ObsModel::evidence_and_weights(const double* t, double* w) const {
  weights(t, w);
  return log_evidence(t);
}

void ObsModel::log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const {
  const Index p = n_features();
  const double before = log_evidence(t);
  Vec with(static_cast<std::size_t>(p));
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < p; ++j) with[j] = t[j] + phi[i * ld + j];
    out[i] = log_evidence(with.data()) - before;
  }
}

Index occupied_clusters(const double* t, Index k, Index p) {
  Index out = 0;
  for (Index j = 0; j < k; ++j) out += t[j * p] > 0;
  return out;
}

}  // namespace bnpvi
