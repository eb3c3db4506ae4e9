#include "observations/capabilities.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace bnpvi {

namespace {

class FixedPrior final : public LearnedPrior {
 public:
  std::shared_ptr<const ObsModel> learned(const double*, Index, PriorSteps, Pool*) const override {
    return nullptr;
  }
  NamedArrays learned_fields() const override { return {}; }
};

class NoUnits final : public ColumnUnits {
 public:
  void re_express(const ObsModel&, double*) const override {}
  double strain() const override { return 1; }
};

class NoBase final : public BaseMeasure {
 public:
  void log_base(const Dataset&, const Index*, Index n, double* out) const override {
    std::fill_n(out, n, 0.0);
  }
};

class PlainUrn final : public Urn {
 public:
  explicit PlainUrn(const ObsModel& obs) : obs_(obs) {}
  Index urn_size() const override { return obs_.n_features(); }
  void fill_urn(double*) const override {}
  void urn_predictives(const double* urns, Index k, const double* phi, double* out) const override {
    const Index p = obs_.n_features();
    for (Index j = 0; j < k; ++j) obs_.log_predictive(urns + j * p, phi, 1, p, out + j);
  }

 private:
  const ObsModel& obs_;
};

const FixedPrior fixed_prior;
const NoUnits no_units;
const NoBase no_base;

// The model's own object, which the model owns; if it has none, a Plain made for the model.
template <class Own, class Plain>
std::shared_ptr<const Own> own_or_plain(const Own* own, const ObsModel& obs) {
  if (own) return {std::shared_ptr<const Own>(), own};
  return std::make_shared<const Plain>(obs);
}

}  // namespace

const LearnedPrior& prior_of(const ObsModel& obs) {
  const LearnedPrior* own = obs.capabilities().prior;
  return own ? *own : fixed_prior;
}

double used_evidence(const ObsModel& obs, const double* t) {
  const LearnedPrior* prior = obs.capabilities().prior;
  return obs.log_evidence(t) + (prior ? prior->occupied_term(t) : 0);
}

const ColumnUnits& units_of(const ObsModel& obs) {
  const ColumnUnits* own = obs.capabilities().units;
  return own ? *own : no_units;
}

const BaseMeasure& base_of(const ObsModel& obs) {
  const BaseMeasure* own = obs.capabilities().base;
  return own ? *own : no_base;
}

Index n_dense(const ObsModel& obs) {
  const SparseEntries* own = obs.capabilities().entries;
  return own ? own->n_dense() : obs.n_features();
}

bool hides_scales(const ObsModel& obs) {
  const ExpectedCells* own = obs.capabilities().cells;
  return own && own->all_rows();
}

Index n_cells(const ObsModel& obs) {
  const ExpectedCells* own = obs.capabilities().cells;
  return own ? own->n_cells() : 0;
}

std::shared_ptr<const Urn> urn_of(const ObsModel& obs) {
  return own_or_plain<Urn, PlainUrn>(obs.capabilities().urn, obs);
}

std::shared_ptr<const RowEstimates> row_estimates_of(const ObsModel& obs) {
  return own_or_plain<RowEstimates, PlainRowEstimates>(obs.capabilities().row_estimates, obs);
}

void PlainRowEstimates::row_estimate(const double* phi, double times, double* mean, double* w) const {
  Vec t(phi, phi + obs_.n_features());
  for (double& x : t) x *= times;
  obs_.point_estimate(t.data(), mean, w);
}

void complete_to_gaps(const ObsModel& from, const double* t, const ObsModel& to, double* out) {
  if (from.n_features() == to.n_features()) {
    std::copy_n(t, to.n_features(), out);
    return;
  }
  const Gaps* gaps = to.capabilities().gaps;
  if (!gaps) throw std::logic_error("this observation model has no gaps");
  gaps->from_complete(from, t, out);
}

void sort_by_missing_cells(const ObsModel& obs, const Dataset& data, std::vector<Index>& rows) {
  const ExpectedCells* cells = obs.capabilities().cells;
  if (!cells) return;
  const std::vector<IncompleteRows> groups =
      cells->incomplete_rows(data, rows.data(), static_cast<Index>(rows.size()));
  std::vector<bool> complete(rows.size(), true);
  for (const IncompleteRows& group : groups)
    for (Index i : group.at) complete[i] = false;
  std::vector<Index> out;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (complete[i]) out.push_back(rows[i]);
  for (const IncompleteRows& group : groups)
    for (Index i : group.at) out.push_back(rows[i]);
  rows.swap(out);
}

double sum_log_base(const ObsModel& obs, const Dataset& data, const std::vector<Index>& rows, Pool* pool) {
  const BaseMeasure* base = obs.capabilities().base;
  if (!base) return 0;
  constexpr Index step = 512;  // rows in each task: a guess
  const Index n = static_cast<Index>(rows.size()), n_parts = (n + step - 1) / step;
  Vec sum(static_cast<std::size_t>(n_parts));
  for_each_part(pool, n_parts, [&](Index part) {
    double value[step];
    const Index from = part * step, m = std::min(step, n - from);
    base->log_base(data, rows.data() + from, m, value);
    for (Index i = 0; data.weight && i < m; ++i) value[i] *= data.weight[rows[from + i]];
    sum[part] = std::accumulate(value, value + m, 0.0);
  });
  return std::accumulate(sum.begin(), sum.end(), 0.0);
}

}  // namespace bnpvi
