#include "mixtures/scaled_partition.h"

#include <limits>
#include <utility>

#include "sampling/scaled_features.h"
#include "sampling/slice.h"

namespace bnpvi::mixtures {

namespace {

constexpr double least_scale = 1e-100, most_scale = 1e100;
constexpr Index rows_between_polls = 256;  // a guess

/// The rows of a model with unobserved scales, together with their scales. An urn has its log evidence after
/// its statistic.
class RowsWithScales final : public ObsModel, public Urn {
 public:
  explicit RowsWithScales(const ObsModel& of) : of_(of) {}

  Index n_features() const override { return of_.n_features(); }
  Index n_columns() const override { return of_.n_columns(); }
  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    of_.features(data, rows, n, phi, ld);
  }
  double log_evidence(const double* t) const override { return of_.log_evidence(t); }
  void weights(const double* t, double* w) const override { of_.weights(t, w); }
  void point_estimate(const double* t, double* mean, double* w) const override {
    of_.point_estimate(t, mean, w);
  }
  void draw(const double* t, Stream& stream, double* w) const override { of_.draw(t, stream, w); }
  NamedArrays posterior(const double* t, Index k) const override { return of_.posterior(t, k); }
  NamedArrays mean_parameters(const double* t, Index k) const override { return of_.mean_parameters(t, k); }
  Capabilities capabilities() const override {
    Capabilities out;
    out.urn = this;
    return out;
  }

  Index urn_size() const override { return n_features() + 1; }
  void fill_urn(double* urn) const override { urn[n_features()] = log_evidence(urn); }
  void urn_predictives(const double* urns, Index k, const double* phi, double* out) const override {
    const Index p = n_features();
    Vec with(static_cast<std::size_t>(p));
    for (Index j = 0; j < k; ++j) {
      const double* urn = urns + j * urn_size();
      for (Index i = 0; i < p; ++i) with[i] = urn[i] + phi[i];
      out[j] = log_evidence(with.data()) - urn[p];
    }
  }

 private:
  const ObsModel& of_;
};

class ScaledPartitionSampler final : public PartitionSampler {
 public:
  // with_scales: RowsWithScales of the model of the rows.
  ScaledPartitionSampler(const ObsModel& with_scales, std::unique_ptr<ScaledFeatures> rows,
                         const PartitionPrior& prior, Index split_merge, Pool& pool)
      : PartitionSampler(with_scales, rows->rows(), prior, split_merge, pool),
        features_(std::move(rows)),
        ones_(static_cast<std::size_t>(rows_.n() * features_->n_scales()), 1.0) {}

  double draw_in_sequence(ChainState& z, Stream& stream) override {
    z.scale = ones_;
    features_->give_all(ones_.data());
    PartitionSampler::draw_in_sequence(z, stream);
    return std::numeric_limits<double>::quiet_NaN();
  }

 protected:
  void rebuild(const ChainState& z) override {
    features_->give_all(z.scale.empty() ? ones_.data() : z.scale.data());
    PartitionSampler::rebuild(z);
  }

  void draw_of_rows(ChainState& z, Stream& stream) override {
    if (z.scale.empty()) z.scale = ones_;
    const Index s = features_->n_scales();
    Urns& urns = urns_.urns();
    Vec phi(static_cast<std::size_t>(rows_.p()));
    for (Index i = 0; i < rows_.n(); ++i) {
      if (i % rows_between_polls == 0) pool_.poll();
      const Index j = z.label[i];
      double* u = z.scale.data() + i * s;
      urns.remove(j, rows_.of(i, nullptr));
      for (Index b = 0; b < s; ++b) {
        const double before = u[b];
        u[b] = slice_step(
            before, least_scale, most_scale,
            [&](double scale) {
              u[b] = scale;
              features_->find(i, u, phi.data());
              return urns.predictive(j, phi.data());
            },
            stream);
      }
      features_->give(i, u);
      urns.add(j, rows_.of(i, nullptr));
    }
  }

 private:
  std::unique_ptr<ScaledFeatures> features_;
  const Vec ones_;  // n × scales of a row
};

class ScaledTarget final : public Target {
 public:
  ScaledTarget(const ObsModel& obs, const Dataset& data, const PartitionPrior& prior, Index split_merge)
      : obs_(obs), with_scales_(obs), rows_(obs, data), prior_(prior), split_merge_(split_merge) {}

  Index n_observations() const override { return rows_.n(); }
  Index n_scales() const override { return hidden_scales(obs_)->n_scales(); }
  std::vector<std::string> concentrations() const override { return {"concentration"}; }
  std::unique_ptr<Sampler> sampler(Pool& pool) const override {
    return std::make_unique<ScaledPartitionSampler>(
        with_scales_, std::make_unique<ScaledFeatures>(obs_, rows_), prior_, split_merge_, pool);
  }

 private:
  const ObsModel& obs_;
  const RowsWithScales with_scales_;
  const RowFeatures rows_;
  const PartitionPrior prior_;
  const Index split_merge_;
};

}  // namespace

std::unique_ptr<Target> make_scaled_target(const ObsModel& obs, const Dataset& data,
                                           const PartitionPrior& prior, Index split_merge) {
  return std::make_unique<ScaledTarget>(obs, data, prior, split_merge);
}

}  // namespace bnpvi::mixtures
