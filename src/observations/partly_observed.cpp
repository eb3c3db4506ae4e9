#include "observations/partly_observed.h"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.h"
#include "observations/expected_responses.h"

namespace bnpvi {

namespace {

// The reduced features are those of the observed responses.
class SomeResponses final : public MissingPattern {
 public:
  SomeResponses(const WishartModel& model, const MissingCells& missing)
      : model_(model), expected_(model, missing) {}

  Index n_features() const override { return offset() + expected_.n_squares(); }

  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    const Index n_o = expected_.n_seen();
    Vec seen(static_cast<std::size_t>(n * n_o));
    expected_.gather(data, rows, n, seen.data());
    for (Index i = 0; i < n; ++i) {
      const double inverse = bring_near(n_o, seen.data() + i * n_o);
      phi[i * ld] = inverse * inverse;
    }
    kernels().packed_outer(n, n_o, seen.data(), n_o, phi + offset(), ld);
    add_cells(expected_.cells(), n, phi, ld, offset());
  }

  void weights(const double* w, double* reduced) const override {
    const ExpectedResponses::Given q = expected_.given(w);
    std::fill_n(reduced, n_features(), 0.0);
    expected_.weights(w, q, reduced + offset());
    if (offset() == 1) reduced[0] = w[0];
    const Index n = model_.n_features();
    reduced[0] += w[n] + q.log_normaliser + w[n + 1] * expected_.log_unit();
  }

  void expand(const double* w, const double* reduced, double* t) const override {
    const ExpectedResponses::Given q = expected_.given(w);
    expected_.expand(q, reduced[0], reduced + offset(), t);
    const Index n = model_.n_features();
    if (offset() == 1) t[0] += reduced[0];
    t[n] += reduced[0];
    t[n + 1] += reduced[0] *
                (q.log_normaliser + 0.5 * static_cast<double>(expected_.n_missing()) + expected_.log_unit());
  }

  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override {
    Vec own(t, t + model_.n_features());
    own[0] = t[model_.n_features()];
    model_.log_marginal_predictive(own.data(), expected_.seen(), phi, n, ld, out);
  }

 private:
  Index offset() const { return model_.offset(); }

  const WishartModel& model_;
  ExpectedResponses expected_;
};

class PartlyObserved final : public ObsModel,
                             public ExpectedCells,
                             public Gaps,
                             public ColumnUnits,
                             public LearnedPrior {
 public:
  explicit PartlyObserved(std::shared_ptr<const WishartModel> inner)
      : inner_(std::move(inner)), p_(inner_->n_features()) {}

  Index n_features() const override { return p_ + 2; }
  Index n_columns() const override { return inner_->n_columns(); }
  Capabilities capabilities() const override {
    const Capabilities inner = inner_->capabilities();
    Capabilities out;
    out.lag = inner.lag;
    out.far_rows = true;
    out.cells = this;
    out.gaps = this;
    if (inner.prior) out.prior = this;
    out.units = this;
    return out;
  }
  Index n_cells() const override { return inner_->coordinates(); }

  // The features of incomplete rows are all 0.
  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    inner_->features(data, rows, n, phi, ld);
    for (Index i = 0; i < n; ++i) {
      double* f = phi + i * ld;
      if (lacks_any(f))
        std::fill_n(f, p_ + 2, 0.0);
      else
        f[p_] = f[0], f[p_ + 1] = 0;
    }
  }

  std::vector<IncompleteRows> incomplete_rows(const Dataset& data, const Index* rows,
                                              Index n) const override {
    constexpr Index step = 512;  // rows gathered at a time: a guess
    const Index m = inner_->coordinates();
    Vec v(static_cast<std::size_t>(std::min(n, step) * m));
    MissingCells missing(static_cast<std::size_t>(m));
    IncompleteGroups groups;
    for (Index from = 0; from < n; from += step) {
      const Index size = std::min(step, n - from);
      inner_->gather_coordinates(data, rows + from, size, v.data());
      for (Index i = 0; i < size; ++i) {
        const double* x = v.data() + i * m;
        if (std::none_of(x, x + m, [](double cell) { return std::isnan(cell); })) continue;
        for (Index j = 0; j < m; ++j) missing[j] = std::isnan(x[j]);
        groups.add(from + i, missing);
      }
    }
    return groups.take();
  }

  std::unique_ptr<const MissingPattern> pattern(const MissingCells& missing) const override {
    const auto first_response = missing.begin() + inner_->regressors();
    const bool regressor = std::find(missing.begin(), first_response, true) != first_response,
               response = std::find(first_response, missing.end(), false) != missing.end();
    if (regressor || !response) return nothing_observed();
    return std::make_unique<SomeResponses>(*inner_, missing);
  }

  std::shared_ptr<const ObsModel> learned(const double* t, Index k, PriorSteps steps,
                                          Pool* pool) const override {
    const auto next = prior_of(*inner_).learned(inner_statistics(t, k).data(), k, steps, pool);
    return next ? std::make_shared<PartlyObserved>(same_kind<WishartModel>(next)) : nullptr;
  }

  double log_hyperprior() const override { return prior_of(*inner_).log_hyperprior(); }
  double occupied_term(const double* t) const override {
    return prior_of(*inner_).occupied_term(inner_statistics(t, 1).data());
  }
  bool has_occupied_term() const override { return prior_of(*inner_).has_occupied_term(); }
  NamedArrays learned_fields() const override { return prior_of(*inner_).learned_fields(); }
  double strain() const override { return inner_->strain(); }

  // The entropy refers to cells in the user's units, and so does not change.
  void re_express(const ObsModel& from, double* t) const override {
    Vec own = inner_statistics(t, 1);
    inner_->re_express(*same_kind<PartlyObserved>(from).inner_, own.data());
    std::copy(own.begin() + 1, own.end(), t + 1);
  }

  void from_complete(const ObsModel&, const double* complete_t, double* t) const override {
    std::copy_n(complete_t, p_, t);
    t[p_] = complete_t[0];
    t[p_ + 1] = 0;
  }

  double log_evidence(const double* t) const override {
    return inner_->log_evidence(inner_statistics(t, 1).data()) + t[p_ + 1];
  }

  void weights(const double* t, double* w) const override { evidence_and_weights(t, w); }

  double evidence_and_weights(const double* t, double* w) const override {
    const double value = inner_->evidence_and_weights(inner_statistics(t, 1).data(), w);
    weigh_count(w);
    return value + t[p_ + 1];
  }

  void point_estimate(const double* t, double* mean, double* w) const override {
    inner_->point_estimate(inner_statistics(t, 1).data(), mean, w);
    mean[p_] = 1;
    mean[p_ + 1] = 0;
    weigh_count(w);
  }

  void draw(const double* t, Stream& stream, double* w) const override {
    inner_->draw(inner_statistics(t, 1).data(), stream, w);
    weigh_count(w);
  }

  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override {
    const Vec own = inner_statistics(t, 1);
    for (Index i = 0, end; i < n; i = end) {
      for (end = i; end < n && phi[end * ld] != 0;) ++end;
      inner_->log_predictive(own.data(), phi + i * ld, end - i, ld, out + i);
      for (; end < n && phi[end * ld] == 0; ++end) out[end] = 0;
    }
  }

  NamedArrays posterior(const double* t, Index k) const override {
    return inner_->posterior(inner_statistics(t, k).data(), k);
  }

  NamedArrays mean_parameters(const double* t, Index k) const override {
    return inner_->mean_parameters(inner_statistics(t, k).data(), k);
  }

 private:
  // Detected from the squares of the coordinates.
  bool lacks_any(const double* f) const {
    for (Index i = 0; i < inner_->coordinates(); ++i)
      if (std::isnan(f[inner_->offset() + packed(i, i)])) return true;
    return false;
  }

  // Statistics of the inner model for K clusters, K × p.
  Vec inner_statistics(const double* t, Index k) const {
    Vec out;
    for (Index j = 0; j < k; ++j, t += p_ + 2) {
      out.insert(out.end(), t, t + p_);
      out[out.size() - static_cast<std::size_t>(p_)] = t[p_];
    }
    return out;
  }

  void weigh_count(double* w) const {
    w[p_] = w[0];
    w[0] = 0;
    w[p_ + 1] = 1;
  }

  std::shared_ptr<const WishartModel> inner_;
  Index p_;
};

}  // namespace

std::unique_ptr<ObsModel> as_observed(const Fields& fields, std::unique_ptr<WishartModel> inner) {
  if (!fields.optional_flag("gaps")) return inner;
  return std::make_unique<PartlyObserved>(std::shared_ptr<const WishartModel>(std::move(inner)));
}

}  // namespace bnpvi
