#include "chains/sampling/path_split_merge.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "foundation/special.h"
#include "foundation/variates.h"
#include "sampling/partners.h"

namespace bnpvi::chains {

namespace {

constexpr Index most_rows = 4096;  // of the states of a proposal: a guess

}  // namespace

PathSplitMerge::PathSplitMerge(const RowFeatures& features, const SequenceRows& rows, const PathPrior& prior,
                               Urns& urns, std::vector<int>& label, TransitionCounts& counts,
                               StateWeights& weight, StateClasses& classes)
    : features_(features),
      rows_(rows),
      prior_(prior),
      urns_(urns),
      label_(label),
      counts_(counts),
      weight_(weight),
      classes_(classes),
      pair_(urns),
      side_(label.size(), -1),
      phi_(static_cast<std::size_t>(features.p())) {}

bool PathSplitMerge::propose(Stream& stream) {
  const Index first = stream.index(features_.n()),
              second = draw_partner(first, features_, pair_, phi_.data(), stream);
  return label_[first] == label_[second] ? split(first, second, stream) : merge(first, second, stream);
}

std::vector<Index> PathSplitMerge::members(Index a, Index b, Index first, Index second) const {
  std::vector<Index> out{first, second};
  for (Index t = 0; t < features_.n(); ++t)
    if ((label_[t] == a || label_[t] == b) && t != first && t != second) out.push_back(t);
  const auto distance = [&](Index t) { return std::min(std::abs(t - first), std::abs(t - second)); };
  std::stable_sort(out.begin() + 2, out.end(), [&](Index t, Index u) { return distance(t) < distance(u); });
  return out;
}

template <class Side>
double PathSplitMerge::divide(const std::vector<Index>& rows, double least, Side side) {
  pair_.clear();
  std::fill(side_.begin(), side_.end(), -1);
  double log_q = 0, together = 1 + prior_.sticky.value, apart = 1;  // pairs of rows beside each other
  for (std::size_t i = 0; i < rows.size() && log_q >= least; ++i) {
    const Index t = rows[i];
    const double* phi = features_.of(t, phi_.data());
    const int before = rows_.first[t] ? -1 : side_[t - 1];
    const int after = t + 1 < features_.n() && !rows_.first[t + 1] ? side_[t + 1] : -1;
    if (i < 2) {
      side_[t] = static_cast<signed char>(i);
    } else {
      double predictive[2];
      pair_.predictives(phi, 2, predictive);
      double odds = predictive[1] - predictive[0] +
                    std::log(static_cast<double>(pair_.count(1)) / static_cast<double>(pair_.count(0)));
      for (int beside : {before, after})
        if (beside >= 0) odds += (beside == 1 ? 1 : -1) * std::log(together / apart);
      const double second = -log_1p_exp(-odds);
      side_[t] = side(t, second);
      log_q += side_[t] ? second : -log_1p_exp(odds);
    }
    for (int beside : {before, after})
      if (beside >= 0) (beside == side_[t] ? together : apart) += 1;
    pair_.add(side_[t], phi);
  }
  return log_q;
}

double PathSplitMerge::sources(const TransitionCounts& counts, Index state) {
  double out = 0;
  for (Index row = 0; row <= counts.k(); ++row) out += counts(row, state) > 0;
  return out;
}

double PathSplitMerge::log_of_share(const TransitionCounts& counts, Index a, Index b, double log_v,
                                    double log_rest) const {
  const double c_0 = sources(counts, a), c_1 = sources(counts, b);
  return c_0 * log_v + c_1 * log_rest - log_beta(c_0, c_1);
}

bool PathSplitMerge::split(Index first, Index second, Stream& stream) {
  const Index a = label_[first], b = urns_.k();
  if (weight_.back() <= 0 || urns_.count(a) > most_rows) return false;
  const std::vector<Index> rows = members(a, a, first, second);
  const double log_q = divide(
      rows, -INFINITY, [&](Index, double log_second) { return std::log1p(-stream.uniform()) < log_second; });
  std::vector<int> label = label_;
  for (Index t : rows)
    if (side_[t] == 1) label[t] = static_cast<int>(b);
  TransitionCounts counts = count_transitions(rows_, label, b + 1);
  StateWeights weight = weight_;
  double log_share = 0;
  if (prior_.open_ended()) {
    const LogBeta v = draw_log_beta(sources(counts, a), sources(counts, b), stream);
    log_share = log_of_share(counts, a, b, v.log_x, v.log_rest);
    weight.insert(weight.end() - 1, weight_[a] * std::exp(v.log_rest));
    weight[a] *= std::exp(v.log_x);
  } else {
    prior_.break_weight(weight, stream);
  }
  const double gain = prior_.log_probability(counts, weight) - prior_.log_probability(counts_, weight_) +
                      pair_.log_evidence(0) + pair_.log_evidence(1) - urns_.log_evidence(a);
  if (!(std::log1p(-stream.uniform()) < gain - log_share - log_q)) return false;
  urns_.replace(a, pair_, 0);
  urns_.replace(b, pair_, 1);
  label_ = std::move(label);
  counts_ = std::move(counts);
  weight_ = std::move(weight);
  classes_.begin_with(label_, urns_.k());
  return true;
}

bool PathSplitMerge::merge(Index first, Index second, Stream& stream) {
  const Index a = label_[first], b = label_[second], last = urns_.k() - 1;
  if (urns_.count(a) + urns_.count(b) > most_rows || !classes_.may_join(a, b)) return false;
  std::vector<int> label = label_;
  for (int& j : label) {
    if (j == b) j = static_cast<int>(a);
    if (j == last && last != b) j = static_cast<int>(b);
  }
  StateWeights weight = weight_;
  double log_share = 0;
  if (prior_.open_ended()) {
    const double both = weight[a] + weight[b];
    log_share = log_of_share(counts_, a, b, std::log(weight[a] / both), std::log(weight[b] / both));
    weight[a] = both;
    weight[b] = weight[last];
    weight.erase(weight.end() - 2);
  } else {
    PathPrior::return_weight(weight, b);
  }
  TransitionCounts counts = count_transitions(rows_, label, last);
  const double gain = prior_.log_probability(counts, weight) - prior_.log_probability(counts_, weight_) +
                      urns_.log_evidence(a, b) - urns_.log_evidence(a) - urns_.log_evidence(b) + log_share;
  const double needed = std::log1p(-stream.uniform()) - gain;
  if (!(needed <= 0)) return false;  // log Q ≤ 0: most pairs of states are too far apart whatever Q is
  const auto as_labelled = [&](Index t, double) { return label_[t] == b; };
  if (!(divide(members(a, b, first, second), needed, as_labelled) > needed)) return false;
  urns_.join(a, b);
  label_ = std::move(label);
  counts_ = std::move(counts);
  weight_ = std::move(weight);
  classes_.begin_with(label_, urns_.k());
  return true;
}

}  // namespace bnpvi::chains
