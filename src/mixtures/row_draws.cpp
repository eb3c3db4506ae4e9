#include "mixtures/row_draws.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bnpvi::mixtures {

namespace {

constexpr Index rows_at_once = 256;  // rows in each task: a guess

void odds_of_clusters(const PartitionPrior& prior, const Urns& urns, Vec& odds) {
  const Index k = urns.k();
  for (Index j = 0; j < k; ++j) odds[j] = prior.odds_of(urns.size(j));
  odds[k] = prior.odds_of_new(k);
}

}  // namespace

RowDraws::RowDraws(const PartitionPrior& prior, RowUrns& urns, Pool& pool, Index most)
    : ClusterDraws(urns, pool, most), prior_(prior), urns_(urns) {}

double RowDraws::place_all(std::vector<int>& label, Stream& stream) {
  label.resize(static_cast<std::size_t>(urns_.rows().n()));
  double log_probability = 0, before = 0;
  for (Index i : shuffled(urns_.rows().n(), stream)) {
    place(i, label, stream);
    log_probability += log_predictive(prior_.odds_of_any(before++));
  }
  return log_probability;
}

void RowDraws::draw_all(std::vector<int>& label, Stream& stream) {
  for (Index i : shuffled(urns_.rows().n(), stream)) redraw(i, label, stream);
}

void RowDraws::find_odds(Index /*i*/, Vec& odds) const { odds_of_clusters(prior_, urns_.urns(), odds); }

void share_out(const PartitionPrior& prior, const RowUrns& urns, Pool& pool, const UseShares& use) {
  const Index n = urns.rows().n();
  Vec odds(static_cast<std::size_t>(urns.k() + 1));
  odds_of_clusters(prior, urns.urns(), odds);
  pool.run((n + rows_at_once - 1) / rows_at_once, [&](Index task) {
    pool.poll();
    Vec share(odds.size());
    for (Index i = task * rows_at_once; i < std::min(n, (task + 1) * rows_at_once); ++i) {
      const double top = urns.weigh(i, odds, share.data());
      const double total = std::accumulate(share.begin(), share.end(), 0.0);
      for (double& value : share) value /= total;
      use(i, top + std::log(total), share.data());
    }
  });
}

}  // namespace bnpvi::mixtures
