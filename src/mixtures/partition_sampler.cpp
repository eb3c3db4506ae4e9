#include "mixtures/partition_sampler.h"

#include <algorithm>
#include <cmath>

#include "mixtures/scaled_partition.h"
#include "mixtures/split_merge.h"
#include "observations/hidden_scales.h"
#include "sampling/slice.h"

namespace bnpvi::mixtures {

namespace {

constexpr double least_concentration = 1e-50, most_concentration = 1e50;  // as in R/check.R

}  // namespace

PartitionSampler::PartitionSampler(const ObsModel& obs, const RowFeatures& rows, const PartitionPrior& prior,
                                   Index split_merge, Pool& pool)
    : rows_(rows),
      pool_(pool),
      urns_(obs, rows),
      prior_(prior),
      split_merge_(split_merge),
      row_draws_(prior_, urns_, pool) {}

double PartitionSampler::draw(ChainState& z, Stream& stream) {
  rebuild(z);
  if (split_merge_ > 0 && rows_.n() > 1) {
    SplitMerge split_merge(rows_, prior_, urns_.urns(), z.label);
    for (Index i = 0; i < split_merge_; ++i) {
      pool_.poll();
      split_merge.propose(stream);
    }
  }
  row_draws_.draw_all(z.label, stream);
  draw_of_rows(z, stream);
  draw_concentration(stream);
  z.concentration = {prior_.concentration};
  return log_joint();
}

double PartitionSampler::log_joint(const ChainState& z) {
  rebuild(z);
  return log_joint();
}

double PartitionSampler::draw_in_sequence(ChainState& z, Stream& stream) {
  prior_.concentration = z.concentration.at(0);
  urns_.begin_with(nullptr, 0);
  return row_draws_.place_all(z.label, stream);
}

void PartitionSampler::rebuild(const ChainState& z) {
  prior_.concentration = z.concentration.at(0);
  urns_.begin_with(z.label);
}

void PartitionSampler::draw_concentration(Stream& stream) {
  if (!prior_.learned) return;
  prior_.concentration = slice_step(
      prior_.concentration, least_concentration, most_concentration,
      [&](double x) {
        PartitionPrior at = prior_;
        at.concentration = x;
        return at.log_probability(urns_.urns().counts()) + at.learned->log_density(x);
      },
      stream);
}

double PartitionSampler::log_joint() const {
  double sum = prior_.log_probability(urns_.urns().counts());
  if (prior_.learned) sum += prior_.learned->log_density(prior_.concentration);
  for (Index j = 0; j < urns_.k(); ++j) sum += urns_.urns().log_evidence(j);
  return sum;
}

namespace {

class PartitionTarget final : public Target {
 public:
  PartitionTarget(const ObsModel& obs, const Dataset& data, const PartitionPrior& prior, Index split_merge)
      : obs_(obs), rows_(obs, data), prior_(prior), split_merge_(split_merge) {}

  Index n_observations() const override { return rows_.n(); }
  std::vector<std::string> concentrations() const override { return {"concentration"}; }
  std::unique_ptr<Sampler> sampler(Pool& pool) const override {
    return std::make_unique<PartitionSampler>(obs_, rows_, prior_, split_merge_, pool);
  }

 private:
  const ObsModel& obs_;
  const RowFeatures rows_;
  const PartitionPrior prior_;
  const Index split_merge_;
};

}  // namespace

std::unique_ptr<Target> make_partition_target(const ObsModel& obs, const Dataset& data,
                                              const PartitionPrior& prior, Index split_merge) {
  if (hidden_scales(obs)) return make_scaled_target(obs, data, prior, split_merge);
  return std::make_unique<PartitionTarget>(obs, data, prior, split_merge);
}

}  // namespace bnpvi::mixtures
