#include "mixtures/partition_sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "kernels/kernels.h"
#include "mixtures/split_merge.h"
#include "sampling/labels.h"
#include "sampling/slice.h"

namespace bnpvi::mixtures {

namespace {

constexpr Index rows_between_polls = 4096;                                // some milliseconds: a guess
constexpr double least_concentration = 1e-50, most_concentration = 1e50;  // as in R/check.R

}  // namespace

PartitionSampler::PartitionSampler(const ObsModel& obs, const RowFeatures& rows, const PartitionPrior& prior,
                                   Index split_merge, Pool& pool)
    : rows_(rows),
      prior_(prior),
      split_merge_(split_merge),
      pool_(pool),
      urns_(obs),
      phi_(static_cast<std::size_t>(rows.p())) {}

Vec PartitionSampler::sweep(ChainState& z, std::uint64_t seed, std::uint64_t chain) {
  Stream stream(seed, Purpose::sampler, chain, static_cast<std::uint64_t>(z.sweeps));
  rebuild(z);
  if (split_merge_ > 0 && rows_.n() > 1) {
    SplitMerge split_merge(rows_, prior_, urns_, z.label);
    for (Index i = 0; i < split_merge_; ++i) {
      pool_.poll();
      split_merge.propose(stream);
    }
  }
  draw_rows(z.label, stream);
  draw_concentration(stream);
  z.concentration = {prior_.concentration};
  ++z.sweeps;
  return record();
}

double PartitionSampler::draw_in_sequence(ChainState& z, Stream& stream) {
  prior_.concentration = z.concentration.at(0);
  urns_.clear();
  z.label.resize(static_cast<std::size_t>(rows_.n()));
  double log_probability = 0;
  Index before = 0;
  for (Index i : shuffled(rows_.n(), stream)) {
    const double* phi = rows_.of(i, phi_.data());
    const Index j = draw_cluster(phi, stream);
    const double total = std::accumulate(weight_.begin(), weight_.end(), 0.0);
    log_probability += top_ + std::log(total / prior_.odds_of_any(before++));
    urns_.add(j, phi);
    z.label[i] = static_cast<int>(j);
  }
  return log_probability;
}

void PartitionSampler::rebuild(const ChainState& z) {
  prior_.concentration = z.concentration.at(0);
  urns_.clear();
  urns_.open(number_of_clusters(z.label) - 1);
  for (Index i = 0; i < rows_.n(); ++i) urns_.gather(z.label[i], rows_.of(i, phi_.data()));
  urns_.fill();
}

void PartitionSampler::draw_rows(std::vector<int>& label, Stream& stream) {
  const std::vector<Index> order = shuffled(rows_.n(), stream);
  for (std::size_t at = 0; at < order.size(); ++at) {
    if (at % rows_between_polls == 0) pool_.poll();
    const Index i = order[at], from = label[i];
    const double* phi = rows_.of(i, phi_.data());
    const bool emptied = urns_.remove(from, phi);
    if (emptied) {
      const Index last = urns_.k() - 1;
      urns_.drop(from);
      if (from != last)
        std::replace(label.begin(), label.end(), static_cast<int>(last), static_cast<int>(from));
    }
    const Index to = draw_cluster(phi, stream);
    if (to == from && !emptied)
      urns_.put_back();
    else
      urns_.add(to, phi);
    label[i] = static_cast<int>(to);
  }
}

Index PartitionSampler::draw_cluster(const double* phi, Stream& stream) {
  const Index k = urns_.k();
  const double of_new = prior_.odds_of_new(k);
  const Index n = of_new > 0 ? k + 1 : k;
  predictive_.resize(static_cast<std::size_t>(n));
  weight_.resize(static_cast<std::size_t>(n));
  urns_.predictives(phi, n, predictive_.data());
  kernels().exp_rows(1, n, predictive_.data(), n, weight_.data(), n, &top_);
  for (Index j = 0; j < k; ++j) weight_[j] *= prior_.odds_of(urns_.count(j));
  if (n > k) weight_[k] *= of_new;
  const Index j = draw(weight_, stream);
  if (j < 0) throw std::domain_error("a row has no probability in any cluster: numbers broke down");
  return j;
}

void PartitionSampler::draw_concentration(Stream& stream) {
  if (!prior_.learned) return;
  prior_.concentration = slice_step(
      prior_.concentration, least_concentration, most_concentration,
      [&](double x) {
        PartitionPrior at = prior_;
        at.concentration = x;
        return at.log_probability(urns_.counts()) + at.learned->log_density(x);
      },
      stream);
}

Vec PartitionSampler::record() const {
  double log_joint = prior_.log_probability(urns_.counts());
  if (prior_.learned) log_joint += prior_.learned->log_density(prior_.concentration);
  for (Index j = 0; j < urns_.k(); ++j) log_joint += urns_.log_evidence(j);
  const Sizes sizes(urns_.counts());
  return {static_cast<double>(urns_.k()), prior_.concentration, log_joint, sizes.largest, sizes.entropy};
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
  return std::make_unique<PartitionTarget>(obs, data, prior, split_merge);
}

}  // namespace bnpvi::mixtures
