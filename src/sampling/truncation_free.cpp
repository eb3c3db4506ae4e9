#include "sampling/truncation_free.h"

#include <algorithm>

#include "inference/moves/move.h"

namespace bnpvi {

namespace {

// Guesses.
constexpr double part_between_tending = 0.1;
constexpr Index fewest_rows = 1000, most_rows = 10000, most_numbers = 1 << 22;

}  // namespace

StreamLimits StreamLimits::of_rows(const ObsModel& obs) {
  return {std::clamp(most_numbers / obs.n_features(), fewest_rows, most_rows), 1e3, 1e4};
}

RunningClusterLearner::RunningClusterLearner(const ObsModel& obs, const TruncationFreeOptions& options,
                                             std::uint64_t seed, RunningState& running, Pool& pool,
                                             const StreamLimits& limits)
    : obs_(obs),
      options_(options),
      seed_(seed),
      pool_(pool),
      p_(obs.n_features()),
      limits_(limits),
      running_(running) {}

double RunningClusterLearner::total_size() const {
  double n = 0;
  for (Index j = 0; j < running_.k(); ++j) n += size(j);
  return n;
}

bool RunningClusterLearner::due() const {
  return running_.untended >= std::clamp(part_between_tending * total_size(), limits_.fewest_between_tending,
                                         limits_.most_between_tending);
}

void RunningClusterLearner::tend() {
  improve();
  running_.keep(running_.by_size());
  learn_prior();
  for (ClusterIdentity& cluster : running_.identity) cluster.lasting = true;
  running_.untended = 0;
}

RunningClusterLearner::Faded RunningClusterLearner::faded(double keep) const {
  Faded out;
  for (Index j = 0; j < running_.k(); ++j) {
    if (!is_left(j, keep)) continue;
    out.kept.push_back(j);
    for (Index f = 0; f < p_; ++f) out.t.push_back(keep * running_.t[j * p_ + f]);
  }
  return out;
}

// Removes clusters of which nothing is left after fading, then takes over the statistics t and the labels of
// the batch.
void RunningClusterLearner::take_over(const Faded& earlier, Vec t, const std::vector<int>& label,
                                      double new_units) {
  std::vector<bool> gone(running_.identity.size(), true);
  for (Index j : earlier.kept) gone[j] = false;
  for (Index j = 0; j < running_.k(); ++j)
    if (gone[j]) departed_.push_back({running_.identity[j]});
  running_.remove(gone);
  running_.t = std::move(t);
  running_.seen += new_units;
  running_.identify(static_cast<Index>(running_.t.size()) / p_);
  for (int j : label) running_.identity[j].last_seen = running_.seen;
}

void RunningClusterLearner::close_batch(std::size_t observations) {
  running_.keep(running_.by_size());
  running_.untended += static_cast<double>(observations);
  ++running_.batches;
}

void RunningClusterLearner::remove_spent() {
  std::vector<bool> gone(running_.identity.size(), false);
  for (Index j = 0; j < running_.k(); ++j) {
    const ClusterIdentity& cluster = running_.identity[j];
    gone[j] = is_spent(cluster, size(j), running_.seen, options_.fades);
    if (gone[j]) departed_.push_back({cluster, size(j)});
  }
  running_.remove(gone);
}

std::vector<Index> RunningClusterLearner::divide(Index j, const Vec& t, const Vec& n) {
  const Index largest = std::max_element(n.begin(), n.end()) - n.begin();
  std::vector<Index> number;
  for (Index a = 0; a < static_cast<Index>(n.size()); ++a) {
    const auto from = t.begin() + a * p_;
    number.push_back(a == largest ? j : static_cast<Index>(running_.k()));
    if (a == largest) {
      std::copy_n(from, p_, running_.t.begin() + j * p_);
    } else {
      running_.t.insert(running_.t.end(), from, from + p_);
      running_.identify(running_.k() + 1);
    }
  }
  return number;
}

Vec RunningClusterLearner::evidence_of_pairs() const {
  Summary total(SummaryShape{p_}, running_.k());
  std::copy(running_.t.begin(), running_.t.end(), total.obs.edit().begin());
  return evidence_of_merging(obs_, total, pool_);
}

void RunningClusterLearner::join(Index& a, Index& b) {
  if (size(b) > size(a)) std::swap(a, b);
  departed_.push_back({running_.identity[b], size(b), running_.identity[a].id});
  running_.join(a, b);
}

}  // namespace bnpvi
