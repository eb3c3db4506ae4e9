#include "mixtures/split_merge.h"

#include <algorithm>
#include <cmath>

#include "foundation/special.h"
#include "sampling/partners.h"

namespace bnpvi::mixtures {

namespace {

constexpr Index most_rows = 4096;  // largest size of a cluster in a proposal: a guess

}  // namespace

SplitMerge::SplitMerge(const RowFeatures& rows, const PartitionPrior& prior, Urns& urns,
                       std::vector<int>& label)
    : rows_(rows),
      prior_(prior),
      urns_(urns),
      label_(label),
      members_(static_cast<std::size_t>(urns.k())),
      pair_(urns),
      phi_(static_cast<std::size_t>(rows.p())) {
  for (Index i = 0; i < rows_.n(); ++i) members_[label_[i]].push_back(i);
}

bool SplitMerge::propose(Stream& stream) {
  const Index first = stream.index(rows_.n()),
              second = draw_partner(first, rows_, pair_, phi_.data(), stream);
  return label_[first] == label_[second] ? split(first, second, stream) : merge(first, second, stream);
}

std::vector<Index> SplitMerge::in_random_order(Index first, Index second, std::vector<Index> rows,
                                               Stream& stream) const {
  std::iter_swap(rows.begin(), std::find(rows.begin(), rows.end(), first));
  std::iter_swap(rows.begin() + 1, std::find(rows.begin(), rows.end(), second));
  for (std::size_t i = 2; i + 1 < rows.size(); ++i)
    std::swap(rows[i], rows[i + stream.index(static_cast<Index>(rows.size() - i))]);
  return rows;
}

template <class Side>
double SplitMerge::divide(const std::vector<Index>& rows, double least, Side side) {
  pair_.clear();
  side_.assign(rows.size(), 0);
  double log_q = 0;
  for (std::size_t i = 0; i < rows.size() && log_q >= least; ++i) {
    const double* phi = rows_.of(rows[i], phi_.data());
    if (i < 2) {
      side_[i] = static_cast<char>(i);
    } else {
      double predictive[2];
      pair_.predictives(phi, 2, predictive);
      const double odds = std::log(prior_.odds_of(static_cast<double>(pair_.count(1))) /
                                   prior_.odds_of(static_cast<double>(pair_.count(0)))) +
                          predictive[1] - predictive[0];
      const double second = -log_1p_exp(-odds);
      side_[i] = side(rows[i], second);
      log_q += side_[i] ? second : -log_1p_exp(odds);
    }
    pair_.add(side_[i], phi);
  }
  return log_q;
}

bool SplitMerge::split(Index first, Index second, Stream& stream) {
  const int a = label_[first];
  if (prior_.odds_of_new(urns_.k()) == 0 || urns_.count(a) > most_rows) return false;
  const std::vector<Index> rows = in_random_order(first, second, members_[a], stream);
  const double log_q = divide(
      rows, -INFINITY, [&](Index, double log_second) { return std::log1p(-stream.uniform()) < log_second; });
  const double gain = prior_.gain_of_split(static_cast<double>(pair_.count(0)),
                                           static_cast<double>(pair_.count(1)), urns_.k()) +
                      pair_.log_evidence(0) + pair_.log_evidence(1) - urns_.log_evidence(a);
  if (!(std::log1p(-stream.uniform()) < gain - log_q)) return false;
  const Index b = urns_.k();
  urns_.replace(a, pair_, 0);
  urns_.replace(b, pair_, 1);
  members_[a].clear();
  members_.emplace_back();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    label_[rows[i]] = side_[i] ? static_cast<int>(b) : a;
    members_[label_[rows[i]]].push_back(rows[i]);
  }
  return true;
}

bool SplitMerge::merge(Index first, Index second, Stream& stream) {
  const int a = label_[first], b = label_[second];
  const Index n_a = urns_.count(a), n_b = urns_.count(b);
  if (n_a + n_b > most_rows) return false;
  const double gain = urns_.log_evidence(a, b) - urns_.log_evidence(a) - urns_.log_evidence(b) -
                      prior_.gain_of_split(static_cast<double>(n_a), static_cast<double>(n_b), urns_.k() - 1);
  const double needed = std::log1p(-stream.uniform()) - gain;
  if (needed > 0) return false;  // log Q ≤ 0: most pairs of clusters are too far apart for any Q
  std::vector<Index> rows = members_[a];
  rows.insert(rows.end(), members_[b].begin(), members_[b].end());
  const auto as_labelled = [&](Index row, double) { return label_[row] == b; };
  if (!(divide(in_random_order(first, second, rows, stream), needed, as_labelled) > needed)) return false;
  const int last = static_cast<int>(urns_.k() - 1);
  urns_.join(a, b);
  members_[a] = std::move(rows);
  for (Index i : members_[a]) label_[i] = a;
  if (b != last) members_[b] = std::move(members_[last]);
  members_.pop_back();
  if (b != last)
    for (Index i : members_[b]) label_[i] = b;
  return true;
}

}  // namespace bnpvi::mixtures
