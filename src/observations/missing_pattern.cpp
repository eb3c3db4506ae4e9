#include "observations/missing_pattern.h"

#include <algorithm>

#include "kernels/kernels.h"

namespace bnpvi {

void MissingPattern::products(Index n, const double* phi, Index k, const double* reduced, double* out) const {
  const Index p = n_features();
  kernels().product_nt(n, k, p, phi, p, reduced, n_weights(), out, k);
}

void MissingPattern::add(Index n, const double* phi, Index k, const double* r, const double* const* w,
                         double* const* t) const {
  const Index p = n_features();
  Vec reduced(static_cast<std::size_t>(p));
  for (Index j = 0; j < k; ++j) {
    std::fill(reduced.begin(), reduced.end(), 0.0);
    for (Index i = 0; i < n; ++i)
      for (Index v = 0; v < p && r[i * k + j] != 0; ++v) reduced[v] += r[i * k + j] * phi[i * p + v];
    expand(w[j], reduced.data(), t[j]);
  }
}

namespace {

class Unobserved final : public MissingPattern {
 public:
  Index n_features() const override { return 1; }
  void features(const Dataset&, const Index*, Index n, double* phi, Index ld) const override {
    for (Index i = 0; i < n; ++i) phi[i * ld] = 1;
  }
  void weights(const double* w, double* reduced) const override { reduced[0] = w[0]; }
  void expand(const double*, const double* reduced, double* t) const override { t[0] += reduced[0]; }
  void log_predictive(const double*, const double*, Index n, Index, double* out) const override {
    std::fill_n(out, n, 0.0);
  }
};

}  // namespace

std::unique_ptr<const MissingPattern> nothing_observed() { return std::make_unique<Unobserved>(); }

void IncompleteGroups::add(Index row, const MissingCells& missing) {
  if (groups_.empty() || groups_[last_].missing != missing) {
    const auto [known, is_new] = number_.emplace(missing, groups_.size());
    if (is_new) groups_.push_back({missing, {}});
    last_ = known->second;
  }
  groups_[last_].at.push_back(row);
}

}  // namespace bnpvi
