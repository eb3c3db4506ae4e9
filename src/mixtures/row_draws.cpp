#include "mixtures/row_draws.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "kernels/kernels.h"

namespace bnpvi::mixtures {

namespace {

constexpr Index rows_between_polls = 4096;  // some milliseconds: a guess
constexpr Index rows_at_once = 256;         // of a task: a guess

// Odds times exp(log predictive − top) of the first n ≤ K + 1 clusters, whose predictives are given; returns
// their sum. weight may be the predictives.
double weigh(const PartitionPrior& prior, const Urns& urns, Index n, const double* predictive, double* weight,
             double* top) {
  const Index k = urns.k();
  kernels().exp_rows(1, n, predictive, n, weight, n, top);
  for (Index j = 0; j < n; ++j) weight[j] *= j < k ? prior.odds_of(urns.size(j)) : prior.odds_of_new(k);
  return std::accumulate(weight, weight + n, 0.0);
}

}  // namespace

RowDraws::RowDraws(const RowFeatures& rows, const PartitionPrior& prior, Urns& urns, Pool& pool, Index most)
    : rows_(rows),
      prior_(prior),
      urns_(urns),
      pool_(pool),
      most_(most),
      phi_(static_cast<std::size_t>(rows.p())) {}

double RowDraws::place_all(std::vector<int>& label, double before, Stream& stream) {
  label.resize(static_cast<std::size_t>(rows_.n()));
  double log_probability = 0;
  const std::vector<Index> order = shuffled(rows_.n(), stream);
  for (std::size_t at = 0; at < order.size(); ++at) {
    if (at % rows_between_polls == 0) pool_.poll();
    const Index i = order[at];
    const double* phi = rows_.of(i, phi_.data());
    const Index j = draw_cluster(phi, stream);
    const double total = std::accumulate(weight_.begin(), weight_.end(), 0.0);
    log_probability += top_ + std::log(total / prior_.odds_of_any(before++));
    urns_.add(j, phi);
    label[i] = static_cast<int>(j);
  }
  return log_probability;
}

void RowDraws::draw_all(std::vector<int>& label, Stream& stream) {
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

Index RowDraws::draw_cluster(const double* phi, Stream& stream) {
  const Index k = urns_.k();
  const bool may_be_new = prior_.odds_of_new(k) > 0;
  if (may_be_new && k >= most_) capped_ = true;
  const Index n = may_be_new && k < most_ ? k + 1 : k;
  predictive_.resize(static_cast<std::size_t>(n));
  weight_.resize(static_cast<std::size_t>(n));
  urns_.predictives(phi, n, predictive_.data());
  weigh(prior_, urns_, n, predictive_.data(), weight_.data(), &top_);
  const Index j = draw(weight_, stream);
  if (j < 0) throw std::domain_error("a row has no probability in any cluster: numbers broke down");
  return j;
}

void share_out(const PartitionPrior& prior, const Urns& urns, const RowFeatures& rows, Pool& pool,
               const std::function<void(Index i, double log_sum, const double* share)>& each) {
  const Index k = urns.k() + 1;
  pool.run((rows.n() + rows_at_once - 1) / rows_at_once, [&](Index task) {
    pool.poll();
    Vec phi(static_cast<std::size_t>(rows.p())), share(static_cast<std::size_t>(k));
    for (Index i = task * rows_at_once; i < std::min(rows.n(), (task + 1) * rows_at_once); ++i) {
      urns.predictives(rows.of(i, phi.data()), k, share.data());
      double top = 0;
      const double total = weigh(prior, urns, k, share.data(), share.data(), &top);
      for (double& value : share) value /= total;
      each(i, top + std::log(total), share.data());
    }
  });
}

}  // namespace bnpvi::mixtures
