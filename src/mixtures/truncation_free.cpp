#include "mixtures/truncation_free.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mixtures/row_draws.h"

namespace bnpvi::mixtures {

namespace {

constexpr Index rows_at_once = 256;  // of a task: a guess

// The latest rows, so many of them, say how far clusters overlap and whether one should be split: guesses.
constexpr Index fewest_recent = 1000, recent_batches = 5;

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
  const Index n = rows.n(), tasks = (n + rows_at_once - 1) / rows_at_once;
  Vec sum(static_cast<std::size_t>(tasks), 0.0);
  pool_.run(tasks, [&](Index task) {
    pool_.poll();
    Vec phi(static_cast<std::size_t>(p_)), share(static_cast<std::size_t>(clusters_.k() + 1));
    for (Index i = task * rows_at_once; i < std::min(n, (task + 1) * rows_at_once); ++i)
      sum[task] += share_out(prior_, urns_, rows.of(i, phi.data()), share.data());
  });
  return std::accumulate(sum.begin(), sum.end(), 0.0) -
         static_cast<double>(n) * std::log(prior_.odds_of_any(total_size()));
}

std::vector<int> TruncationFree::most_probable(const RowFeatures& rows) {
  const Index k = clusters_.k(), n = rows.n();
  urns_.begin_with(clusters_.t.data(), k);
  std::vector<int> out(static_cast<std::size_t>(n), 0);
  pool_.run((n + rows_at_once - 1) / rows_at_once, [&](Index task) {
    pool_.poll();
    Vec phi(static_cast<std::size_t>(p_)), share(static_cast<std::size_t>(k + 1));
    for (Index i = task * rows_at_once; i < std::min(n, (task + 1) * rows_at_once); ++i) {
      share_out(prior_, urns_, rows.of(i, phi.data()), share.data());
      out[i] = static_cast<int>(std::max_element(share.begin(), share.begin() + k) - share.begin());
    }
  });
  return out;
}

void TruncationFree::learn(const RowFeatures& rows, double keep, bool fresh) {
  RunningClusters& c = clusters_;
  const Index n = rows.n();
  // Clusters of which nothing is left give their places free. All changes are made behind the last interrupt.
  Vec faded;
  std::vector<ClusterIdentity> left, gone;
  for (Index j = 0; j < c.k(); ++j) {
    if (!(keep * size(j) > 0)) {
      gone.push_back(c.identity[j]);
      continue;
    }
    left.push_back(c.identity[j]);
    for (Index f = 0; f < p_; ++f) faded.push_back(keep * c.t[j * p_ + f]);
  }
  urns_.begin_with(faded.data(), static_cast<Index>(left.size()));
  Stream stream(seed_, Purpose::stream, c.batches);
  RowDraws draws(rows, prior_, urns_, pool_, options_.most_clusters);
  draws.place_all(label_, keep * total_size(), stream);
  for (Index sweep = 1; sweep < options_.sweeps; ++sweep) draws.draw_all(label_, stream);
  capped_ = capped_ || draws.capped();

  for (const ClusterIdentity& cluster : gone) departed_.push_back({cluster, 0});
  c.identity = std::move(left);
  c.t = std::move(faded);
  c.t.resize(static_cast<std::size_t>(urns_.k() * p_), 0.0);
  if (fresh) c.seen += static_cast<double>(n);
  while (c.k() < urns_.k()) c.identity.push_back({c.next_id++, c.seen, c.seen});
  Vec phi(static_cast<std::size_t>(p_));
  for (Index i = 0; i < n; ++i) {
    const double* row = rows.of(i, phi.data());
    double* t = c.t.data() + label_[i] * p_;
    for (Index f = 0; f < p_; ++f) t[f] += row[f];
    c.identity[label_[i]].last_seen = c.seen;
  }
  keep_recent(rows);
  c.untended += static_cast<double>(n);
  ++c.batches;
}

void TruncationFree::keep_recent(const RowFeatures& rows) {
  Vec& recent = clusters_.recent;
  const Index n = rows.n(), most = std::max(fewest_recent, recent_batches * n),
              kept = static_cast<Index>(recent.size()) / p_, too_many = std::max<Index>(kept + n - most, 0);
  recent.erase(recent.begin(), recent.begin() + std::min(too_many, kept) * p_);
  Vec phi(static_cast<std::size_t>(p_));
  for (Index i = 0; i < n; ++i) {
    const double* row = rows.of(i, phi.data());
    recent.insert(recent.end(), row, row + p_);
  }
}

bool TruncationFree::due(Index batch) const {
  return clusters_.untended >= static_cast<double>(std::max<Index>(1000, 10 * batch));
}

}  // namespace bnpvi::mixtures
