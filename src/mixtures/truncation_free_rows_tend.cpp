#include <algorithm>
#include <cmath>
#include <numeric>

#include "inference/data/shared_entropy.h"
#include "mixtures/concentration_posterior.h"
#include "mixtures/partition_sampler.h"
#include "mixtures/truncation_free_rows.h"
#include "sampling/labels.h"

namespace bnpvi::mixtures {

namespace {

constexpr Index proposals_of_split = 2;  // in each sweep; with five, little more was found

// Removes column b of a table with k columns.
void remove_column(Vec& table, Index k, Index b) {
  std::size_t to = 0;
  for (std::size_t i = 0; i < table.size(); ++i)
    if (static_cast<Index>(i) % k != b) table[to++] = table[i];
  table.resize(to);
}

}  // namespace

void TruncationFreeRows::improve() {
  remove_spent();
  if (options_.split) split_all();
  if (options_.merge) merge_all();
}

Vec TruncationFreeRows::recent_shares() const {
  const Index k = clusters_.k();
  const RowFeatures rows(obs_, clusters_.recent);
  Vec r(static_cast<std::size_t>(rows.n() * k));
  share_out(rows, [&](Index i, double, const double* share) {
    const double old = std::accumulate(share, share + k, 0.0);
    for (Index j = 0; j < k; ++j) r[i * k + j] = old > 0 ? share[j] / old : 0;
  });
  return r;
}

void TruncationFreeRows::split_all() {
  const Index k = clusters_.k();
  if (k == 0) return;
  const Vec r = recent_shares();
  std::vector<std::vector<Index>> rows(static_cast<std::size_t>(k));
  for (Index i = 0; i < static_cast<Index>(r.size()) / k; ++i)
    rows[std::max_element(r.begin() + i * k, r.begin() + (i + 1) * k) - (r.begin() + i * k)].push_back(i);
  Stream random = stream(1);
  for (auto& of_cluster : rows) {
    const Index n = static_cast<Index>(of_cluster.size());
    of_cluster.erase(of_cluster.begin(), of_cluster.begin() + std::max<Index>(n - most_to_split, 0));
  }
  for (Index j = 0; j < clusters_.k(); ++j)
    while (split(j, rows, random)) pool_.poll();
}

bool TruncationFreeRows::split(Index j, std::vector<std::vector<Index>>& rows, Stream& stream) {
  RunningClusters& c = clusters_;
  const std::vector<Index> own = rows[j];
  const Index n = static_cast<Index>(own.size());
  if (n < fewest_to_split) return false;
  Vec phi;
  for (Index i : own) phi.insert(phi.end(), c.recent.begin() + i * p_, c.recent.begin() + (i + 1) * p_);
  const RowFeatures features(obs_, phi);
  PartitionPrior prior = prior_;
  prior.learned.reset();
  PartitionSampler sampler(obs_, features, prior, proposals_of_split, pool_);
  ChainState chain;
  chain.label.assign(own.size(), 0);
  chain.concentration = {prior.concentration};
  const std::uint64_t seed = stream.next();
  double best = sampler.log_joint(chain);
  std::vector<int> label;
  for (Index sweep = 0; sweep < sweeps_of_split; ++sweep) {
    const double now = sampler.sweep(chain, seed, 0)[2];
    if (now > best) best = now, label = chain.label;
  }
  const Index parts = number_of_clusters(label);
  if (parts < 2 || c.k() + parts - 1 > options_.most_clusters) return false;

  const double scale = size(j) / static_cast<double>(n);
  Vec t(static_cast<std::size_t>(parts * p_), 0.0), n_of(static_cast<std::size_t>(parts), 0.0);
  for (Index i = 0; i < n; ++i) {
    for (Index f = 0; f < p_; ++f) t[label[i] * p_ + f] += scale * phi[i * p_ + f];
    n_of[label[i]] += 1;
  }
  const std::vector<Index> number = divide(j, t, n_of);
  rows[j].clear();
  rows.resize(static_cast<std::size_t>(c.k()));
  for (Index i = 0; i < n; ++i) rows[number[label[i]]].push_back(own[i]);
  return true;
}

void TruncationFreeRows::merge_all() {
  RunningClusters& c = clusters_;
  if (c.k() < 2) return;
  Vec r = recent_shares();
  const Index n = static_cast<Index>(c.recent.size()) / p_;
  const double scale = scale_of_latest(n);
  Index k = c.k();
  Vec evidence = evidence_of_pairs(), entropy(evidence.size(), NAN);
  const auto gain_of = [&](Index a, Index b) -> double {
    const double gain = evidence[a * k + b] - prior_.gain_of_split(size(a), size(b), k - 1);
    if (!(gain > 0)) return -INFINITY;
    double& lost = entropy[a * k + b];
    if (std::isnan(lost)) lost = scale * shared_entropy(r, k, a, b);
    return gain - lost;
  };
  while (k > 1) {
    pool_.poll();
    Index best_a = 0, best_b = 0;
    double best = 0;
    for (Index a = 0; a < k; ++a)
      for (Index b = a + 1; b < k; ++b)
        if (const double gain = gain_of(a, b); gain > best) best = gain, best_a = a, best_b = b;
    if (best_b == 0) return;
    Index a = best_a, b = best_b;
    join(a, b);
    for (Index i = 0; i < n; ++i) r[i * k + a] += r[i * k + b];
    std::vector<bool> gone(static_cast<std::size_t>(k), false);
    gone[b] = true;
    c.remove(gone);
    remove_column(r, k, b);
    for (Vec* table : {&evidence, &entropy}) {
      remove_column(*table, k, b);
      table->erase(table->begin() + b * (k - 1), table->begin() + (b + 1) * (k - 1));
    }
    --k;
    if (a > b) --a;
    const double* t = c.t.data();
    const double alone = used_evidence(obs_, t + a * p_);
    Vec both(static_cast<std::size_t>(p_));
    for (Index j = 0; j < k; ++j) {
      if (j == a) continue;
      for (Index f = 0; f < p_; ++f) both[f] = t[a * p_ + f] + t[j * p_ + f];
      evidence[a * k + j] = evidence[j * k + a] =
          used_evidence(obs_, both.data()) - alone - used_evidence(obs_, t + j * p_);
      entropy[a * k + j] = entropy[j * k + a] = NAN;
    }
  }
}

void TruncationFreeRows::learn_prior() {
  if (!prior_.learned || clusters_.k() == 0) return;
  Vec counts;
  for (Index j = 0; j < clusters_.k(); ++j) counts.push_back(size(j));
  clusters_.concentration = ConcentrationPosterior(*prior_.learned, prior_.discount, counts).mean();
  prior_.concentration = clusters_.concentration;
}

}  // namespace bnpvi::mixtures
