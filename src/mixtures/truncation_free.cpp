#include "mixtures/truncation_free.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mixtures/row_draws.h"

namespace bnpvi::mixtures {

namespace {

// The rows of the latest batches say how far clusters overlap and whether one should be split: so many
// batches, and no fewer and no more rows, unless their features would take more numbers. Guesses.
constexpr Index recent_batches = 5, fewest_recent = 1000, most_recent = 10000, most_recent_numbers = 1 << 22;

// Clusters are tended when so large a part of all rows has come since, within these limits: guesses.
constexpr double part_between_tending = 0.1, fewest_between_tending = 1000, most_between_tending = 10000;

}  // namespace

TruncationFree::TruncationFree(const ObsModel& obs, const PartitionPrior& prior,
                               const TruncationFreeOptions& options, std::uint64_t seed,
                               RunningClusters& clusters, Pool& pool)
    : obs_(obs),
      prior_(prior),
      options_(options),
      seed_(seed),
      clusters_(clusters),
      pool_(pool),
      p_(obs.n_features()),
      urns_(obs) {
  prior_.concentration = clusters.concentration;
}

double TruncationFree::total_size() const {
  double n = 0;
  for (Index j = 0; j < clusters_.k(); ++j) n += size(j);
  return n;
}

double TruncationFree::log_predictive(const RowFeatures& rows) {
  urns_.begin_with(clusters_.t.data(), clusters_.k());
  Vec log_sum(static_cast<std::size_t>(rows.n()));
  share_out(prior_, urns_, rows, pool_, [&](Index i, double value, const double*) { log_sum[i] = value; });
  return std::accumulate(log_sum.begin(), log_sum.end(), 0.0) -
         static_cast<double>(rows.n()) * std::log(prior_.odds_of_any(total_size()));
}

std::vector<int> TruncationFree::most_probable(const RowFeatures& rows) {
  const Index k = clusters_.k();
  urns_.begin_with(clusters_.t.data(), k);
  std::vector<int> out(static_cast<std::size_t>(rows.n()), 0);
  share_out(prior_, urns_, rows, pool_, [&](Index i, double, const double* share) {
    out[i] = static_cast<int>(std::max_element(share, share + k) - share);
  });
  return out;
}

void TruncationFree::learn(const RowFeatures& rows, double keep, bool fresh) {
  RunningClusters& c = clusters_;
  const Index n = rows.n();
  // Clusters of which nothing is left give their places free. All changes are made behind the last interrupt.
  Vec faded;
  std::vector<ClusterIdentity> left;
  std::vector<Departure> gone;
  for (Index j = 0; j < c.k(); ++j) {
    if (!(keep * size(j) > 0)) {
      gone.push_back({c.identity[j]});
      continue;
    }
    left.push_back(c.identity[j]);
    for (Index f = 0; f < p_; ++f) faded.push_back(keep * c.t[j * p_ + f]);
  }
  urns_.begin_with(faded.data(), static_cast<Index>(left.size()));
  Stream stream(seed_, Purpose::stream, c.batches);
  RowDraws draws(rows, prior_, urns_, pool_, options_.most_clusters);
  std::vector<int> label;
  draws.place_all(label, keep * total_size(), stream);
  for (Index sweep = 1; sweep < options_.sweeps; ++sweep) draws.draw_all(label, stream);
  capped_ = capped_ || draws.capped();

  departed_.insert(departed_.end(), gone.begin(), gone.end());
  c.identity = std::move(left);
  c.t = std::move(faded);
  c.t.resize(static_cast<std::size_t>(urns_.k() * p_), 0.0);
  if (fresh) c.seen += static_cast<double>(n);
  while (c.k() < urns_.k()) c.identity.push_back({c.next_id++, c.seen, c.seen});
  Vec phi(static_cast<std::size_t>(p_));
  for (Index i = 0; i < n; ++i) {
    const double* row = rows.of(i, phi.data());
    double* t = c.t.data() + label[i] * p_;
    for (Index f = 0; f < p_; ++f) t[f] += row[f];
    c.identity[label[i]].last_seen = c.seen;
  }
  c.keep(c.by_size());
  keep_recent(rows);
  c.untended += static_cast<double>(n);
  ++c.batches;
}

void TruncationFree::keep_recent(const RowFeatures& rows) {
  Vec& recent = clusters_.recent;
  const Index n = rows.n(),
              most = std::max(fewest_recent,
                              std::min({recent_batches * n, most_recent, most_recent_numbers / p_})),
              kept = static_cast<Index>(recent.size()) / p_, too_many = std::max<Index>(kept + n - most, 0);
  recent.erase(recent.begin(), recent.begin() + std::min(too_many, kept) * p_);
  Vec phi(static_cast<std::size_t>(p_));
  for (Index i = std::max<Index>(n - most, 0); i < n; ++i) {
    const double* row = rows.of(i, phi.data());
    recent.insert(recent.end(), row, row + p_);
  }
}

bool TruncationFree::due() const {
  return clusters_.untended >=
         std::clamp(part_between_tending * total_size(), fewest_between_tending, most_between_tending);
}

}  // namespace bnpvi::mixtures
