#include <cmath>
#include <utility>

#include "observations/capabilities.h"
#include "observations/obs_models.h"
#include "observations/row_values.h"

namespace bnpvi {

namespace {

struct LogRows : RowValues {
  LogRows(const Dataset& data, const Index* rows, Index n)
      : RowValues(data, rows, n, [](double x) { return std::log(x); }) {}
};

// A pattern of the inner model, applied to the logarithms of rows.
class PatternOfLogs final : public MissingPattern {
 public:
  explicit PatternOfLogs(std::unique_ptr<const MissingPattern> inner) : inner_(std::move(inner)) {}

  Index n_features() const override { return inner_->n_features(); }
  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    const LogRows logs(data, rows, n);
    inner_->features(logs.view, logs.number.data(), n, phi, ld);
  }
  void weights(const double* w, double* reduced) const override { inner_->weights(w, reduced); }
  void expand(const double* w, const double* reduced, double* t) const override {
    inner_->expand(w, reduced, t);
  }
  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override {
    inner_->log_predictive(t, phi, n, ld, out);
  }

 private:
  std::unique_ptr<const MissingPattern> inner_;
};

// Features are those of log x under the inner model, which therefore does all that is computed from
// features. The Jacobian of the logarithm is the base measure, h(x) = Π_j 1/x_j over the observed cells.
class Lognormal final : public ObsModel,
                        public ExpectedCells,
                        public Gaps,
                        public BaseMeasure,
                        public ColumnUnits,
                        public LearnedPrior {
 public:
  explicit Lognormal(std::shared_ptr<const ObsModel> of_logs)
      : inner_(std::move(of_logs)), can_(inner_->capabilities()) {}

  Capabilities capabilities() const override {
    Capabilities out = can_;
    out.base = this;
    if (out.cells) out.cells = this;
    if (out.gaps) out.gaps = this;
    if (out.units) out.units = this;
    if (out.prior) out.prior = this;
    return out;
  }

  Index n_features() const override { return inner_->n_features(); }
  Index n_columns() const override { return inner_->n_columns(); }

  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    const LogRows logs(data, rows, n);
    inner_->features(logs.view, logs.number.data(), n, phi, ld);
  }

  void log_base(const Dataset& data, const Index* rows, Index n, double* out) const override {
    const LogRows logs(data, rows, n);
    std::fill_n(out, n, 0.0);
    for (Index j = 0; j < logs.view.d; ++j)
      for (Index i = 0; i < n; ++i) {
        const double log_x = logs.value[j * n + i];
        if (!std::isnan(log_x)) out[i] -= log_x;
      }
  }

  Index n_cells() const override { return can_.cells->n_cells(); }
  // Logarithms are missing where the values are.
  std::vector<IncompleteRows> incomplete_rows(const Dataset& data, const Index* rows,
                                              Index n) const override {
    return can_.cells->incomplete_rows(data, rows, n);
  }
  std::unique_ptr<const MissingPattern> pattern(const MissingCells& missing) const override {
    return std::make_unique<PatternOfLogs>(can_.cells->pattern(missing));
  }
  void from_complete(const ObsModel& complete, const double* complete_t, double* t) const override {
    can_.gaps->from_complete(*same_kind<Lognormal>(complete).inner_, complete_t, t);
  }

  void re_express(const ObsModel& from, double* t) const override {
    can_.units->re_express(*same_kind<Lognormal>(from).inner_, t);
  }
  double strain() const override { return can_.units->strain(); }

  std::shared_ptr<const ObsModel> learned(const double* t, Index k, PriorSteps steps,
                                          Pool* pool) const override {
    const auto next = can_.prior->learned(t, k, steps, pool);
    return next ? std::make_shared<Lognormal>(next) : nullptr;
  }
  double log_hyperprior() const override { return can_.prior->log_hyperprior(); }
  double occupied_term(const double* t) const override { return can_.prior->occupied_term(t); }
  bool has_occupied_term() const override { return can_.prior->has_occupied_term(); }
  NamedArrays learned_fields() const override { return can_.prior->learned_fields(); }

  double log_evidence(const double* t) const override { return inner_->log_evidence(t); }
  void weights(const double* t, double* w) const override { inner_->weights(t, w); }
  double evidence_and_weights(const double* t, double* w) const override {
    return inner_->evidence_and_weights(t, w);
  }
  void point_estimate(const double* t, double* mean, double* w) const override {
    inner_->point_estimate(t, mean, w);
  }
  void draw(const double* t, Stream& stream, double* w) const override { inner_->draw(t, stream, w); }
  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override {
    inner_->log_predictive(t, phi, n, ld, out);
  }
  NamedArrays posterior(const double* t, Index k) const override { return inner_->posterior(t, k); }
  NamedArrays mean_parameters(const double* t, Index k) const override {
    return inner_->mean_parameters(t, k);
  }

 private:
  std::shared_ptr<const ObsModel> inner_;
  Capabilities can_;
};

}  // namespace

std::unique_ptr<ObsModel> make_lognormal_full(const Fields& fields) {
  return std::make_unique<Lognormal>(make_gaussian_full(fields));
}

std::unique_ptr<ObsModel> make_lognormal_diagonal(const Fields& fields) {
  return std::make_unique<Lognormal>(make_gaussian_diagonal(fields));
}

}  // namespace bnpvi
