// Choice of the pair that a coarsening joins next.
#include <algorithm>
#include <cmath>

#include "inference/data/evidence.h"
#include "inference/joins/coarsening.h"
#include "inference/moves/move.h"

namespace bnpvi {

namespace {

constexpr std::size_t finalists = 8;  // pairs per step whose ELBO is computed: a guess
constexpr Index few = Index{1} << 7;  // up to so many clusters all pairs are compared (evidence_of_merging)

}  // namespace

double Coarsening::data_gain(Index a, Index b) const {
  const Summary& s = state_.total;
  const ObsModel& obs = problem_.obs;
  return evidence_of_pair(obs, s, a, b) - used_evidence(obs, s, a) - used_evidence(obs, s, b);
}

// now: the present globals, with the allocation part of the total as `effective`.
double Coarsening::allocation_gain(const Globals& now, Index a, Index b) const {
  const Index q = now.effective.shape.q;
  const double* change = changes_.of(id(a), id(b));
  Globals joined = merged(problem_.alloc, now, a, b);
  for (Index i = 0; i < q; ++i) joined.effective.extra[a * q + i] += change[1 + i];
  return sum_terms(problem_.alloc.elbo_terms(joined.effective, joined)) -
         sum_terms(problem_.alloc.elbo_terms(now.effective, now));
}

// Computes the gains that are not known yet.
void Coarsening::compare() {
  const Index k = state_.k();
  if (!all_compared_ && (k == k_ || k <= few)) {
    const Vec gain = evidence_of_merging(problem_.obs, state_.total, pool_);
    for (Index a = 0; a < k; ++a)
      for (Index b = 0; b < k; ++b) data_[at(a, b)] = gain[a * k + b];
    all_compared_ = k <= few;
  }
  std::vector<Pair> pairs;
  for (Index a = 0; a < k; ++a)
    for (Index b = a + 1; b < k; ++b)
      if (state_.total.may_join(a, b) && data_[at(a, b)] != -INFINITY && std::isnan(allocation_[at(a, b)]))
        pairs.push_back({a, b, 0});
  const Globals now{allocation_part(state_.total), state_.globals.u, state_.globals.omega};
  for_each_part(&pool_, static_cast<Index>(pairs.size()), [&](Index i) {
    pool_.poll();
    const auto [a, b, unused] = pairs[i];
    if (std::isnan(data_[at(a, b)])) data_[at(a, b)] = data_[at(b, a)] = data_gain(a, b);
    allocation_[at(a, b)] = allocation_[at(b, a)] = allocation_gain(now, a, b);
  });
}

Summary Coarsening::joined_allocation(Index a, Index b) const {
  const Index q = state_.total.shape.q;
  const double* change = changes_.of(id(a), id(b));
  Summary s = allocation_part(state_.total);
  s.merge(a, b);
  s.entropy() += change[0];
  for (Index i = 0; i < q; ++i) s.extra[a * q + i] += change[1 + i];
  return s;
}

// The sum of the allocation model's terms at optimal globals, for the better of two orders of the clusters
// (as they are, by size).
double Coarsening::best_value(Summary s) const {
  const AllocModel& alloc = problem_.alloc;
  const auto value = [&] { return sum_terms(alloc.elbo_terms(s, alloc.global_step(s, {}))); };
  double best = value();
  const std::vector<Index> order = s.by_size();
  if (!alloc.ordered() || std::is_sorted(order.begin(), order.end())) return best;
  s.permute(order);
  return std::max(best, value());
}

std::optional<std::pair<Index, Index>> Coarsening::best_pair() {
  compare();
  const Index k = state_.k();
  std::vector<Pair> ranked, allowed;
  for (Index a = 0; a < k; ++a)
    for (Index b = a + 1; b < k; ++b) {
      if (!state_.total.may_join(a, b)) continue;
      if (allowed.empty()) allowed.push_back({a, b, 0});
      const double gain = data_[at(a, b)] + allocation_[at(a, b)] + *changes_.of(id(a), id(b));
      if (gain > -INFINITY) ranked.push_back({a, b, gain});
    }
  if (allowed.empty()) return std::nullopt;
  if (ranked.empty()) ranked = allowed;
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Pair& x, const Pair& y) { return x.gain > y.gain; });
  ranked.resize(std::min(ranked.size(), finalists));
  pool_.run(static_cast<Index>(ranked.size()), [&](Index i) {
    Pair& pair = ranked[i];
    pair.gain = data_[at(pair.a, pair.b)] + best_value(joined_allocation(pair.a, pair.b));
  });
  const Pair& best = *std::max_element(ranked.begin(), ranked.end(),
                                       [](const Pair& x, const Pair& y) { return x.gain < y.gain; });
  return std::make_pair(id(best.a), id(best.b));
}

std::vector<Join> join_all(Coarsening& clusters) {
  std::vector<Join> out;
  while (const auto pair = clusters.best_pair()) {
    const auto [a, b] = *pair;
    const Index kept = clusters.join(a, b);
    out.push_back({kept, kept == a ? b : a, clusters.state().elbo});
  }
  return out;
}

}  // namespace bnpvi
