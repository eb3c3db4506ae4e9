#include "mixtures/truncation_free_rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bnpvi::mixtures {

namespace {

// The rows of this many latest batches are kept, but at least this many rows: guesses.
constexpr Index recent_batches = 5, fewest_recent = 1000;

}  // namespace

TruncationFreeRows::TruncationFreeRows(const ObsModel& obs, const PartitionPrior& prior,
                                       const TruncationFreeOptions& options, std::uint64_t seed,
                                       RunningClusters& clusters, Pool& pool)
    : TruncationFree(obs, options, seed, clusters, pool, StreamLimits::of_rows(obs)),
      prior_(prior),
      clusters_(clusters) {
  prior_.concentration = clusters.concentration;
}

void TruncationFreeRows::share_out(const RowFeatures& rows, const UseShares& use) const {
  RowUrns urns(obs_, rows);
  urns.begin_with(clusters_.t.data(), clusters_.k());
  mixtures::share_out(prior_, urns, pool_, use);
}

double TruncationFreeRows::log_predictive(const RowFeatures& rows) const {
  Vec log_sum(static_cast<std::size_t>(rows.n()));
  share_out(rows, [&](Index i, double value, const double*) { log_sum[i] = value; });
  return std::accumulate(log_sum.begin(), log_sum.end(), 0.0) -
         static_cast<double>(rows.n()) * std::log(prior_.odds_of_any(total_size()));
}

std::vector<int> TruncationFreeRows::most_probable(const RowFeatures& rows) const {
  const Index k = clusters_.k();
  std::vector<int> out(static_cast<std::size_t>(rows.n()), 0);
  share_out(rows, [&](Index i, double, const double* share) {
    out[i] = static_cast<int>(std::max_element(share, share + k) - share);
  });
  return out;
}

Vec TruncationFreeRows::draw(const RowFeatures& rows, const Faded& earlier, double /*keep*/,
                             std::vector<int>& label) {
  RowUrns urns(obs_, rows);
  urns.begin_with(earlier.t.data(), static_cast<Index>(earlier.kept.size()));
  Stream random = stream(0);
  RowDraws draws(prior_, urns, pool_, options_.most_clusters);
  draws.place_all(label, random);
  for (Index sweep = 1; sweep < options_.sweeps; ++sweep) draws.draw_all(label, random);
  capped_ = capped_ || draws.capped();
  return urns.statistics(earlier.t, label, Vec(label.size(), 1.0));
}

void TruncationFreeRows::remember(const RowFeatures& rows, const std::vector<int>&, double) {
  Vec& recent = clusters_.recent;
  const Index n = rows.n(), most = std::max(fewest_recent, std::min(recent_batches * n, limits_.recent)),
              kept = static_cast<Index>(recent.size()) / p_, too_many = std::max<Index>(kept + n - most, 0);
  recent.erase(recent.begin(), recent.begin() + std::min(too_many, kept) * p_);
  Vec phi(static_cast<std::size_t>(p_));
  for (Index i = std::max<Index>(n - most, 0); i < n; ++i) {
    const double* row = rows.of(i, phi.data());
    recent.insert(recent.end(), row, row + p_);
  }
}

}  // namespace bnpvi::mixtures
